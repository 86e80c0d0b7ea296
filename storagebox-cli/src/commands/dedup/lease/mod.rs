//! The steps of `dedup run`: a lease is the right to do the work of an id.

#[cfg(test)]
mod tests;

use storagebox::dedup::{Aborted, Begun, Completed, LeaseExtended};
use storagebox::{Dedup, Store, async_trait};

use super::answers::{outcome, shown};
use crate::answer::{Answer, Field};
use crate::cli::{Begin, Complete, ExtendLease, Lease, OfLease};
use crate::commands::store_command::{Output, StoreCommand};
use crate::content;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;

#[async_trait]
impl StoreCommand for Lease {
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let dedup = &store.dedup(&self.of().name)?;
        let answer = match self {
            Lease::Begin(args) => begin(&args, dedup).await?,
            Lease::Extend(args) => extend(&args, dedup).await?,
            Lease::Complete(args) => complete(&args, dedup, out.reserved).await?,
            Lease::Abort(args) => abort(&args, dedup).await?,
        };
        out.print(answer)
    }
}

async fn begin(args: &Begin, dedup: &Dedup) -> Result<Answer, Failure> {
    let Begin { record, op, duration, fingerprint } = args;
    let begin = dedup.begin(&record.id).lease(*duration);
    let begin = match fingerprint {
        Some(fingerprint) => begin.fingerprint(fingerprint),
        None => begin,
    };
    Ok(match begin.by(op).await? {
        Begun::Started(lease) => {
            let started = outcome(record, Exit::Done, "started");
            started.text("op", &lease.op).figure("fence", lease.fence.number())
        }
        Begun::Done(entry) => shown(outcome(record, Exit::Done, "done"), &entry),
        Begun::InFlight { remaining } => {
            outcome(record, Exit::Nothing, "in_flight").with("remaining", Field::Lasts(remaining))
        }
        Begun::Mismatch => outcome(record, Exit::Nothing, "mismatch"),
        Begun::Fenced => outcome(record, Exit::Nothing, "fenced"),
    })
}

async fn extend(args: &ExtendLease, dedup: &Dedup) -> Result<Answer, Failure> {
    let (lease, record) = (args.lease.held(), &args.lease.record);
    Ok(match dedup.extend(&lease, args.duration).await? {
        LeaseExtended::Extended => outcome(record, Exit::Done, "extended"),
        LeaseExtended::Fenced => outcome(record, Exit::Nothing, "fenced"),
    })
}

async fn complete(args: &Complete, dedup: &Dedup, reserved: &Reserved) -> Result<Answer, Failure> {
    let (lease, record) = (args.lease.held(), &args.lease.record);
    let result = content::read(&args.content, reserved).await?;
    Ok(match dedup.complete(&lease, result, args.keep).await? {
        Completed::Completed(entry) => shown(outcome(record, Exit::Done, "completed"), &entry),
        Completed::Again(entry) => shown(outcome(record, Exit::Done, "again"), &entry),
        Completed::Fenced => outcome(record, Exit::Nothing, "fenced"),
    })
}

async fn abort(args: &OfLease, dedup: &Dedup) -> Result<Answer, Failure> {
    Ok(match dedup.abort(&args.held()).await? {
        Aborted::Aborted => outcome(&args.record, Exit::Done, "aborted"),
        Aborted::Fenced => outcome(&args.record, Exit::Nothing, "fenced"),
    })
}
