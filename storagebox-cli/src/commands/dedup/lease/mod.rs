//! The steps of `dedup run`: a lease is the right to do the work of an id.

#[cfg(test)]
mod tests;

use storagebox::async_trait;
use storagebox::dedup::{Aborted, Begun, Completed, LeaseExtended};
use storagebox::parts::{Backend, LeaseRepo};

use super::answers::{outcome, shown};
use crate::answer::{Answer, Fact};
use crate::cli::{Begin, Complete, ExtendLease, Lease, OfLease};
use crate::commands::on_store::{OnStore, Outlet};
use crate::content;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;
use crate::retry;
use crate::step::Step;

#[async_trait]
impl OnStore for Lease {
    async fn ask(self, store: &dyn Backend, out: Outlet<'_>) -> Result<Exit, Failure> {
        let leases = store.lease_repo(&self.of().name).map_err(|error| Step::OpenNamespace.failed(error))?;
        let answer = match self {
            Lease::Begin(args) => begin(&args, &*leases).await?,
            Lease::Extend(args) => extend(&args, &*leases).await?,
            Lease::Complete(args) => complete(&args, &*leases, out.reserved).await?,
            Lease::Abort(args) => abort(&args, &*leases).await?,
        };
        out.print(answer)
    }
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
