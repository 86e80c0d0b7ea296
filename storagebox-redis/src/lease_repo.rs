//! Leases on the records of the same namespace: each call is one script (`lua/lease_repo`).

use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Entry, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload,
    Result, Retention, async_trait, checked_duration,
};
use tracing::instrument;

use crate::client::{Answer, OpenNamespace, ScriptCall, micros, micros_of};
use crate::dedup_repo::entry;
use crate::script::{Script, script};

static BEGIN: Script =
    script!("lease_begin", CHANGES, timed, ["number", "buckets", "queue", "record"], "lease_repo/begin");
static COMPLETE: Script =
    script!("lease_complete", CHANGES, timed, ["number", "buckets", "queue", "record"], "lease_repo/complete");
static ABORT: Script =
    script!("lease_abort", CHANGES, timed, ["number", "buckets", "queue", "record"], "lease_repo/abort");
static EXTEND: Script =
    script!("lease_extend", CHANGES, timed, ["number", "buckets", "queue", "record"], "lease_repo/extend");

#[derive(Debug)]
pub(crate) struct RedisLeaseRepo(pub(crate) OpenNamespace);

impl RedisLeaseRepo {
    /// Creates a call whose first arguments are the id, the operation and the fence of the lease.
    async fn about<'a>(&'a self, script: &'static Script, lease: &'a Lease) -> Result<ScriptCall<'a>> {
        let call = self.0.call(script).await?;
        Ok(call.with(lease.id.as_str()).with(lease.op.as_str()).with(lease.fence.number()))
    }
}

#[async_trait]
impl LeaseRepo for RedisLeaseRepo {
    #[instrument(level = "trace", skip_all)]
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = micros(checked_duration("lease", term)?);
        let attempt = || async move {
            let call = self.0.call(&BEGIN).await?.with(id.as_str()).with(op.as_str()).with(term);
            let call = call.with(fingerprint.map(Fingerprint::as_str)).with(self.0.client().memory());
            begun(&self.0.client().answer(&call).await?, id, op)
        };
        self.0.client().settle("begin", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = micros_of(retention.checked()?);
        let attempt = || async move {
            let call = self.about(&COMPLETE, lease).await?;
            let call = call.with(result.as_bytes()).with(retention).with(self.0.client().memory());
            completed(&self.0.client().answer(&call).await?, result)
        };
        self.0.client().settle("complete", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        let attempt = || async move {
            let call = self.about(&ABORT, lease).await?.with(self.0.client().memory());
            let answer = self.0.client().answer(&call).await?;
            match answer.word()? {
                "aborted" => Ok(Aborted::Aborted),
                "fenced" => Ok(Aborted::Fenced),
                _ => Err(answer.unreadable()),
            }
        };
        self.0.client().settle("abort", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = micros(checked_duration("lease", term)?);
        let attempt = || async move {
            let call = self.about(&EXTEND, lease).await?.with(term).with(self.0.client().memory());
            let answer = self.0.client().answer(&call).await?;
            match answer.word()? {
                "extended" => Ok(LeaseExtended::Extended),
                "fenced" => Ok(LeaseExtended::Fenced),
                _ => Err(answer.unreadable()),
            }
        };
        self.0.client().settle("extend", attempt).await
    }
}

fn begun(answer: &Answer, id: &DedupId, op: &OpId) -> Result<Begun> {
    match answer.word()? {
        "started" => {
            let fence = Fence::new(answer.count(1)?);
            Ok(Begun::Started(Lease { id: id.clone(), op: op.clone(), fence }))
        }
        "in flight" => Ok(Begun::InFlight { remaining: answer.micros(1)? }),
        "done" => Ok(Begun::Done(entry(answer, 1)?)),
        "mismatch" => Ok(Begun::Mismatch),
        "fenced" => Ok(Begun::Fenced),
        _ => Err(answer.unreadable()),
    }
}

fn completed(answer: &Answer, result: &Payload) -> Result<Completed> {
    match answer.word()? {
        "completed" => Ok(Completed::Completed(Entry { value: result.clone(), version: answer.version(1)? })),
        "again" => Ok(Completed::Again(entry(answer, 1)?)),
        "fenced" => Ok(Completed::Fenced),
        _ => Err(answer.unreadable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fuzz;

    #[test]
    fn fuzz_lease_answer_is_read_or_refused() {
        let known: &[&[&str]] =
            &[&["started", "7"], &["in flight", "60000000"], &["done", "7", "value"], &["completed", "7"], &["fenced"]];
        fuzz(
            &BEGIN,
            known,
            &[
                |answer| begun(answer, &DedupId::new("id")?, &OpId::new("op")?).map(drop),
                |answer| completed(answer, &Payload::try_from("value")?).map(drop),
            ],
        );
    }
}
