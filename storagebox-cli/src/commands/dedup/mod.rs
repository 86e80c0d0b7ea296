//! `storagebox dedup ...`: what was done for an id, remembered.

mod answers;
mod lease;
mod list;
pub(super) mod run;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use storagebox::async_trait;
use storagebox::dedup::{Forgotten, Version};
use storagebox::parts::{Backend, DedupRepo};

use super::listing;
use super::on_store::{self, OnStore, Outlet};
use crate::answer::Answer;
use crate::cli::{Dedup, Forget, GetRecord, Global, OfRecord, Record, Records, Replace, Run};
use crate::content;
use crate::exit::{Exit, Failure, RunFailure};
use crate::interrupt::{Caught, Signals};
use crate::output::Reserved;
use crate::retry;
use crate::step::Step;
use crate::store;
use crate::terminal;
use list::Recorded;
use run::Outputs;

pub(crate) async fn run(command: Dedup, global: &Global) -> Result<Exit, Failure> {
    match command {
        Dedup::Run(args) => {
            let args = Run { has_url: global.url.is_some(), ..args };
            once(&args, global).await.map_err(Failure::in_run)
        }
        Dedup::Lease(lease) => on_store::run(lease, global).await,
        Dedup::Records(records) => on_store::run(records, global).await,
    }
}

/// The store is not closed with care: what was recorded is recorded, and the exit code is the command's.
async fn once(args: &Run, global: &Global) -> Result<Exit, Failure> {
    let mut signals = Signals::listen(&Caught::ALL).map_err(Failure::Runtime)?;
    let store = tokio::select! {
        store = store::ready(global) => store?,
        () = signals.request() => return Err(Failure::Run(RunFailure::NotRun)),
    };
    run::adopt_orphans();
    let leases = store.lease_repo(&args.of.name).map_err(|error| Step::OpenNamespace.failed(error))?;
    // What the command wrote is passed on as it is, as if it ran here.
    let (mut its_own, mut told) = (io::stdout(), terminal::stdout(true));
    let stdout: &mut (dyn Write + Send) = if global.json { &mut told } else { &mut its_own };
    let to = Outputs { stdout, stderr: &mut io::stderr(), as_json: global.json };
    let ran = run::run(args, &*leases, &mut signals, to).await;
    let exit = ran.map_err(|failure| Failure::Run(failure).on(store.backend()))?;
    let _ = store.close().await;
    Ok(exit)
}

#[async_trait]
impl OnStore for Records {
    async fn ask(self, store: &dyn Backend, out: Outlet<'_>) -> Result<Exit, Failure> {
        let repo = store.dedup_repo(&self.of().name).map_err(|error| Step::OpenNamespace.failed(error))?;
        let repo = &*repo;
        let answer = match self {
            Records::List(args) => return listing::list(&Recorded(repo), args.limit, out.as_json, out.to).await,
            Records::Get(args) => return get(&args, repo, out).await,
            Records::Record(args) => record(&args, repo, out.reserved).await?,
            Records::Replace(args) => replace(&args, repo, out.reserved).await?,
            Records::Forget(args) => forget(&args, repo).await?,
        };
        out.print(answer)
    }
}

async fn record(args: &Record, repo: &dyn DedupRepo, reserved: &Reserved) -> Result<Answer, Failure> {
    let Record { record, content, op, keep } = args;
    let value = content::read(content, reserved).await?;
    let recorded = retry::named(Step::Record, || repo.record(&record.id, &value, op, *keep)).await?;
    Ok(answers::recorded(record, &value, &recorded))
}

async fn get(args: &GetRecord, repo: &dyn DedupRepo, out: Outlet<'_>) -> Result<Exit, Failure> {
    let target = out.target(args.out.as_deref())?;
    let entry = retry::harmless(Step::Read, || repo.get(&args.record.id)).await?;
    match target {
        Some(target) => out.write(&target, entry.as_ref().map(|entry| &entry.value)),
        None => out.print(answers::got(&args.record, entry.as_ref())),
    }
}

async fn replace(args: &Replace, repo: &dyn DedupRepo, reserved: &Reserved) -> Result<Answer, Failure> {
    let Replace { record, content, version, op } = args;
    let (value, version) = (content::read(content, reserved).await?, Version::new(*version));
    let replaced = retry::named(Step::Replace, || repo.replace(&record.id, version, &value, op)).await?;
    Ok(answers::replaced(record, &replaced))
}

async fn forget(args: &Forget, repo: &dyn DedupRepo) -> Result<Answer, Failure> {
    let Forget { record, version } = args;
    let version = match version {
        Some(version) => Some(Version::new(*version)),
        None => current(record, repo).await?,
    };
    let forgotten = match version {
        Some(version) => retry::named(Step::Forget, || repo.forget(&record.id, version)).await?,
        None => Forgotten::Absent,
    };
    Ok(answers::forgotten(record, &forgotten))
}

async fn current(record: &OfRecord, repo: &dyn DedupRepo) -> Result<Option<Version>, Failure> {
    let entry = retry::harmless(Step::Read, || repo.get(&record.id)).await?;
    Ok(entry.map(|entry| entry.version))
}
