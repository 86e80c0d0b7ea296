//! `storagebox lease ...`: the right to do what an id stands for, step by step.

#[cfg(test)]
mod tests;

use std::io::Write;

use storagebox::{
    Aborted, Begun, Completed, LeaseExtended,
    parts::{Backend, LeaseRepo},
};

use super::dedup::answers::{outcome, shown};
use crate::answer::{Answer, Fact};
use crate::cli::{Begin, Complete, ExtendLease, Global, Lease, OfLease};
use crate::content;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;
use crate::retry;
use crate::step::Step;
use crate::store;
use crate::terminal;

pub(crate) async fn run(command: Lease, global: &Global) -> Result<Exit, Failure> {
    let reserved = store::reserved(global)?;
    let store = store::ready(global).await?;
    let asked = ask(command, &*store, &reserved, global.json, &mut terminal::stdout(global.json)).await;
    store::closed(&*store, asked).await
}

async fn ask(
    command: Lease,
    store: &dyn Backend,
    reserved: &Reserved,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    let leases = store.lease_repo(&command.of().name).map_err(|error| Step::OpenNamespace.failed(error))?;
    let answer = match command {
        Lease::Begin(args) => begin(&args, &*leases).await?,
        Lease::Extend(args) => extend(&args, &*leases).await?,
        Lease::Complete(args) => complete(&args, &*leases, reserved).await?,
        Lease::Abort(args) => abort(&args, &*leases).await?,
    };
    answer.print(to, as_json)
}

async fn begin(args: &Begin, leases: &dyn LeaseRepo) -> Result<Answer, Failure> {
    let Begin { record, op, duration, fingerprint } = args;
    let call = || leases.begin(&record.id, op, *duration, fingerprint.as_ref());
    Ok(match retry::named(Step::Begin, call).await? {
        Begun::Started(lease) => {
            let started = outcome(record, Exit::Done, "started");
            started.text("op", &lease.op).figure("fence", lease.fence.number())
        }
        Begun::Done(entry) => shown(outcome(record, Exit::Done, "done"), &entry),
        Begun::InFlight { remaining } => {
            outcome(record, Exit::Nothing, "in_flight").with("remaining", Fact::Lasts(remaining))
        }
        Begun::Mismatch => outcome(record, Exit::Nothing, "mismatch"),
        Begun::Fenced => outcome(record, Exit::Nothing, "fenced"),
    })
}

async fn extend(args: &ExtendLease, leases: &dyn LeaseRepo) -> Result<Answer, Failure> {
    let (lease, record) = (args.lease.held(), &args.lease.record);
    let extended = retry::named(Step::Extend, || leases.extend(&lease, args.duration)).await?;
    Ok(match extended {
        LeaseExtended::Extended => outcome(record, Exit::Done, "extended"),
        LeaseExtended::Fenced => outcome(record, Exit::Nothing, "fenced"),
    })
}

async fn complete(args: &Complete, leases: &dyn LeaseRepo, reserved: &Reserved) -> Result<Answer, Failure> {
    let (lease, record) = (args.lease.held(), &args.lease.record);
    let result = content::read(&args.content, reserved).await?;
    let completed = retry::named(Step::Complete, || leases.complete(&lease, &result, args.keep)).await?;
    Ok(match completed {
        Completed::Completed(entry) => shown(outcome(record, Exit::Done, "completed"), &entry),
        Completed::Again(entry) => shown(outcome(record, Exit::Done, "again"), &entry),
        Completed::Fenced => outcome(record, Exit::Nothing, "fenced"),
    })
}

async fn abort(args: &OfLease, leases: &dyn LeaseRepo) -> Result<Answer, Failure> {
    let lease = args.held();
    let aborted = retry::named(Step::GiveBack, || leases.abort(&lease)).await?;
    Ok(match aborted {
        Aborted::Aborted => outcome(&args.record, Exit::Done, "aborted"),
        Aborted::Fenced => outcome(&args.record, Exit::Nothing, "fenced"),
    })
}
