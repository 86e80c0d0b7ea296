//! Commands on a namespace: each asks a store that is opened for it, and closed behind it.

use std::io::Write;
use std::path::Path;

use storagebox::{Payload, Store, async_trait};

use crate::answer::Answer;
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::output::{Reserved, Target};
use crate::store;
use crate::terminal;

#[async_trait]
pub(super) trait OnStore: Sized {
    async fn ask(self, store: &Store, out: Outlet<'_>) -> Result<Exit, Failure>;
}

/// Where a command answers, and the files that no output of it may replace.
pub(super) struct Outlet<'a> {
    pub(super) reserved: &'a Reserved,
    pub(super) as_json: bool,
    pub(super) to: &'a mut (dyn Write + Send),
}

impl Outlet<'_> {
    pub(super) fn print(self, answer: Answer) -> Result<Exit, Failure> {
        answer.print(self.to, self.as_json)
    }

    /// The file for nothing but bytes, if one is asked for.
    pub(super) fn target(&self, file: Option<&Path>) -> Result<Option<Target>, Failure> {
        file.map(|file| Target::at(file, self.reserved)).transpose()
    }

    /// Nothing but the bytes of the value, if there is one.
    pub(super) fn write(self, target: &Target, value: Option<&Payload>) -> Result<Exit, Failure> {
        match value {
            Some(value) => target.write(value.as_bytes(), self.to).map(|()| Exit::Done),
            None => Ok(Exit::Nothing),
        }
    }
}

pub(super) async fn run(command: impl OnStore + Send, global: &Global) -> Result<Exit, Failure> {
    let reserved = store::reserved(global)?;
    let store = store::ready(global).await?;
    let to = &mut terminal::stdout(global.json);
    let asked = command.ask(&store, Outlet { reserved: &reserved, as_json: global.json, to }).await;
    store::closed(&store, asked).await
}
