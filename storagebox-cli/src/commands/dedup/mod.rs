//! `storagebox dedup ...`: records, leases and runs.

mod answers;
mod lease;
pub(super) mod run;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use storagebox::dedup::{Entry, Forgotten, ListedRecord, Version};
use storagebox::{Dedup, Store, async_trait};

use super::listing::{self, Cell, Row};
use super::store_command::{self, Output, StoreCommand};
use crate::answer::Answer;
use crate::cli::{self, Forget, GetRecord, Global, OfRecord, Record, Records, Replace, Run};
use crate::content;
use crate::exit::{Exit, Failure, RunFailure};
use crate::interrupt::{self, Signals};
use crate::output::Reserved;
use crate::store;
use crate::terminal;
use run::Outputs;

pub(crate) async fn run(command: cli::Dedup, global: &Global) -> Result<Exit, Failure> {
    match command {
        cli::Dedup::Run(args) => {
            let args = Run { has_url: global.url.is_some(), ..args };
            once(&args, global).await.map_err(Failure::in_run)
        }
        cli::Dedup::Lease(lease) => store_command::run(lease, global).await,
        cli::Dedup::Records(records) => store_command::run(records, global).await,
    }
}

/// Runs the command once.
async fn once(args: &Run, global: &Global) -> Result<Exit, Failure> {
    let mut signals = Signals::listen(&interrupt::ALL).map_err(Failure::Runtime)?;
    let store = tokio::select! {
        store = store::ready(global) => store?,
        () = signals.request() => return Err(Failure::Run(RunFailure::NotRun)),
    };
    run::adopt_orphans();
    // Passes the output of the command on unescaped, as if the user ran it without storagebox.
    let (mut its_own, mut told) = (io::stdout(), terminal::stdout(true));
    let stdout: &mut (dyn Write + Send) = if global.json { &mut told } else { &mut its_own };
    let to = Outputs { stdout, stderr: &mut io::stderr(), as_json: global.json };
    let ran = run::run(args, &store, &mut signals, to).await;
    let exit = ran.map_err(Failure::Run)?;
    // A failure is ignored, because the result is already recorded.
    let _ = store.close().await;
    Ok(exit)
}

#[async_trait]
impl StoreCommand for Records {
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let dedup = &store.dedup(&self.of().name)?;
        let answer = match self {
            Records::List(args) => return listing::list(|| dedup.list(), args.limit, out.as_json, out.to).await,
            Records::Get(args) => return get(&args, dedup, out).await,
            Records::Record(args) => record(&args, dedup, out.reserved).await?,
            Records::Replace(args) => replace(&args, dedup, out.reserved).await?,
            Records::Forget(args) => forget(&args, dedup).await?,
        };
        out.print(answer)
    }
}

async fn record(args: &Record, dedup: &Dedup, reserved: &Reserved) -> Result<Answer, Failure> {
    let Record { record, content, op, keep } = args;
    let value = content::read(content, reserved).await?;
    let recorded = dedup.record(&record.id, &value).keep(*keep).by(op).await?;
    Ok(answers::recorded(record, &value, &recorded))
}

async fn get(args: &GetRecord, dedup: &Dedup, out: Output<'_>) -> Result<Exit, Failure> {
    let target = out.target(&args.output)?;
    let entry = dedup.get(&args.record.id).await?;
    match target {
        Some(target) => out.write(&target, entry.as_ref().map(|entry| &entry.value)),
        None => out.print(answers::got(&args.record, entry.as_ref())),
    }
}

async fn replace(args: &Replace, dedup: &Dedup, reserved: &Reserved) -> Result<Answer, Failure> {
    let Replace { record, content, version, op } = args;
    let (value, version) = (content::read(content, reserved).await?, Version::new(*version));
    let replaced = dedup.replace(&record.id, version, value).by(op).await?;
    Ok(answers::replaced(record, &replaced))
}

async fn forget(args: &Forget, dedup: &Dedup) -> Result<Answer, Failure> {
    let Forget { record, version } = args;
    let forgotten = match version {
        Some(version) => dedup.forget(&record.id, Version::new(*version)).await?,
        None => forget_current(record, dedup).await?,
    };
    Ok(answers::forgotten(record, &forgotten))
}

/// Deletes the record that is there now, if there is one.
async fn forget_current(record: &OfRecord, dedup: &Dedup) -> Result<Forgotten, Failure> {
    let Some(Entry { version, .. }) = dedup.get(&record.id).await? else { return Ok(Forgotten::Absent) };
    Ok(dedup.forget(&record.id, version).await?)
}

impl Row for ListedRecord {
    const HEADER: &'static [&'static str] = &["id", "version", "value"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let version = Cell::Figure(self.entry.version.number().into());
        vec![Cell::Text(self.id.as_str()), version, Cell::Bytes(self.entry.value.as_bytes())]
    }
}
