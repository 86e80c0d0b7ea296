//! Leases over the deduplication records of the same name.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::backend::rules::{IdState, started};
use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload, Result,
    Retention, async_trait, checked_duration,
};
use tracing::instrument;

use crate::clock::Time;
use crate::records::{Record, Records};

#[derive(Debug)]
pub(crate) struct MemoryLeaseRepo(pub(crate) Arc<Records>);

impl Records {
    /// Forgets the fingerprint of a lease that lapsed so long ago that its operation is forgotten too (D-6).
    fn forget_fingerprint(&self, record: &mut Record, now: Time) {
        if let IdState::Leased(leased) = &mut record.state
            && self.settings.is_forgotten(leased.until, now)
        {
            leased.fingerprint = None;
        }
    }
}

#[async_trait]
impl LeaseRepo for MemoryLeaseRepo {
    #[instrument(level = "trace", skip_all)]
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        self.0.change(id, |record, now| {
            self.0.forget_fingerprint(record, now);
            record.state.begin((id, op), fingerprint, record.has_ended(op), now).unwrap_or_else(|| {
                let (fence, until) = (Fence::new(self.0.next_number()), now.after(term));
                record.state = IdState::Leased(record.state.next_lease(op, fence, until, fingerprint));
                started(id, op, fence)
            })
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = retention.checked()?;
        let completed = self.0.change(&lease.id, |record, now| {
            record.state.complete(lease).unwrap_or_else(|| {
                let mut done = self.0.done(result, &lease.op, now, retention);
                (done.fence, done.fingerprint) = (Some(lease.fence), record.state.fingerprint().cloned());
                let entry = done.entry.clone();
                record.state = IdState::Done(done);
                Completed::Completed(entry)
            })
        })?;
        match self.0.by_id.transaction() {
            Some(transaction) if completed == Completed::Fenced => Err(transaction.doom()),
            _ => Ok(completed),
        }
    }

    #[instrument(level = "trace", skip_all)]
    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        self.0.change(&lease.id, |record, now| {
            record.state.abort(lease, record.has_ended(&lease.op)).unwrap_or_else(|| {
                record.end(now);
                Aborted::Aborted
            })
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = checked_duration("lease", term)?;
        self.0.change(&lease.id, |record, now| match &mut record.state {
            IdState::Leased(leased) if leased.is(lease) => {
                leased.until = leased.until.max(now.after(term));
                LeaseExtended::Extended
            }
            _ => LeaseExtended::Fenced,
        })
    }
}
