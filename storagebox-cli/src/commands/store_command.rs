//! Commands on a namespace of a store. The store is opened before the command and closed after it.

use std::io::Write;

use storagebox::{Payload, Store, async_trait};

use crate::answer::Answer;
use crate::cli::{Global, OfOutput};
use crate::exit::{Exit, Failure};
use crate::output::{Reserved, Target};
use crate::store;
use crate::terminal;

#[async_trait]
pub(super) trait StoreCommand: Sized {
    /// Makes the calls of the command, and writes the answer.
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure>;
}

/// Where a command writes its answer, and the files that it must not replace.
pub(super) struct Output<'a> {
    pub(super) reserved: &'a Reserved,
    pub(super) as_json: bool,
    pub(super) to: &'a mut (dyn Write + Send),
}

impl Output<'_> {
    pub(super) fn print(self, answer: Answer) -> Result<Exit, Failure> {
        answer.print(self.to, self.as_json)
    }

    /// Checks the path of the output file for a value. Returns `None` if the command line names no output file.
    pub(super) fn target(&self, of: &OfOutput) -> Result<Option<Target>, Failure> {
        of.out.as_deref().map(|file| Target::at(file, of.force, self.reserved)).transpose()
    }

    /// Writes the bytes of the value, or nothing if there is no value.
    pub(super) fn write(self, target: &Target, value: Option<&Payload>) -> Result<Exit, Failure> {
        match value {
            Some(value) => target.write(value.as_bytes(), self.to).map(|()| Exit::Done),
            None => Ok(Exit::Nothing),
        }
    }
}

pub(super) async fn run(command: impl StoreCommand + Send, global: &Global) -> Result<Exit, Failure> {
    let reserved = store::reserved(global)?;
    let store = store::ready(global).await?;
    let to = &mut terminal::stdout(global.json);
    let asked = command.ask(&store, Output { reserved: &reserved, as_json: global.json, to }).await;
    store::closed(&store, asked).await
}
