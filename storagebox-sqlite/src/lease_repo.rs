//! Leases on the records of the same name (`sql/lease_repo`).

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::backend::micros;
use storagebox_core::backend::rules::{IdState, started};
use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Entry, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload,
    Result, Retention, Version, async_trait, checked_duration,
};
use tracing::instrument;

use crate::client::{OpenNamespace, Step};
use crate::error;
use crate::records::{self, Record, end_of, numbered};

const BEGIN: &str = numbered!("lease_repo/begin.sql");
const COMPLETE: &str = numbered!("lease_repo/complete.sql");
const ABORT: &str = include_str!("../sql/lease_repo/abort.sql");
const EXTEND: &str = include_str!("../sql/lease_repo/extend.sql");

#[derive(Debug)]
pub(crate) struct SqliteLeaseRepo(pub(crate) Arc<OpenNamespace>);

type Asked = (DedupId, OpId, Duration, Option<Fingerprint>);

async fn begin(step: &mut Step<'_>, (id, op, term, fingerprint): &Asked) -> Result<Begun> {
    let known = Record::of(step, id, Some(op)).await?;
    if let Some(answer) = known.state.begin((id, op), fingerprint.as_ref(), known.has_ended, step.now) {
        return Ok(answer);
    }
    let (fingerprint, is_inherited) = known.state.next_fingerprint(fingerprint.as_ref());
    let (fingerprint, inherited) = (fingerprint.map(Fingerprint::as_str), is_inherited.then_some(1));
    let until = step.now.after(micros(*term)).0;
    let put = step.ask(BEGIN).bind(id.as_str()).bind(op.as_str()).bind(fingerprint).bind(until).bind(inherited);
    let fence = step.number("a fence", put).await?;
    Ok(started(id, op, Fence::new(fence.unsigned_abs())))
}

async fn complete(step: &mut Step<'_>, (lease, result, retention): &(Lease, Payload, Retention)) -> Result<Completed> {
    if let Some(answer) = Record::of(step, &lease.id, Some(&lease.op)).await?.state.complete(lease) {
        return Ok(answer);
    }
    let until = end_of(*retention, step.now);
    let put = step.ask(COMPLETE).bind(lease.id.as_str()).bind(result.as_bytes()).bind(until);
    let version = step.number("a version", put).await?;
    let version = Version::new(version.unsigned_abs());
    Ok(Completed::Completed(Entry { value: result.clone(), version }))
}

/// Completes a lease within a transaction of the caller. Returns an error, which makes a commit impossible, if the
/// lease is over (J-4).
async fn complete_or_fail(step: &mut Step<'_>, done: &(Lease, Payload, Retention)) -> Result<Completed> {
    match complete(step, done).await? {
        Completed::Fenced => Err(error::lease_is_over()),
        completed => Ok(completed),
    }
}

async fn abort(step: &mut Step<'_>, lease: &Lease) -> Result<Aborted> {
    let known = Record::of(step, &lease.id, Some(&lease.op)).await?;
    if let Some(answer) = known.state.abort(lease, known.has_ended) {
        return Ok(answer);
    }
    if matches!(known.state, IdState::Leased(leased) if leased.is_inherited) {
        step.change(step.ask(ABORT).bind(lease.id.as_str()).bind(step.now.0)).await?;
    } else {
        records::end(step, &lease.id).await?;
    }
    Ok(Aborted::Aborted)
}

async fn extend(step: &mut Step<'_>, (lease, term): &(Lease, Duration)) -> Result<LeaseExtended> {
    if !Record::of(step, &lease.id, Some(&lease.op)).await?.state.holds(lease) {
        return Ok(LeaseExtended::Fenced);
    }
    let until = step.now.after(micros(*term)).0;
    step.change(step.ask(EXTEND).bind(lease.id.as_str()).bind(until)).await?;
    Ok(LeaseExtended::Extended)
}

#[async_trait]
impl LeaseRepo for SqliteLeaseRepo {
    #[instrument(level = "trace", skip_all)]
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        let asked = (id.clone(), op.clone(), term, fingerprint.cloned());
        self.0.write("begin", asked, |step, asked| Box::pin(begin(step, asked))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let completed = (lease.clone(), result.clone(), retention.checked()?);
        match self.0.is_joined() {
            true => self.0.write("complete", completed, |step, done| Box::pin(complete_or_fail(step, done))).await,
            false => self.0.write("complete", completed, |step, done| Box::pin(complete(step, done))).await,
        }
    }

    #[instrument(level = "trace", skip_all)]
    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        self.0.write("abort", lease.clone(), |step, lease| Box::pin(abort(step, lease))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let longer = (lease.clone(), checked_duration("lease", term)?);
        self.0.write("extend", longer, |step, longer| Box::pin(extend(step, longer))).await
    }
}
