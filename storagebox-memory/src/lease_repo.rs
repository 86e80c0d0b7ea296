//! Leases over the deduplication records of the same name.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload, Result,
    Retention, async_trait, checked_duration,
};
use tracing::instrument;

use crate::clock::Time;
use crate::records::{Leased, Record, Records, State};

#[derive(Debug)]
pub(crate) struct MemoryLeaseRepo(pub(crate) Arc<Records>);

impl Record {
    /// What the lease still has, unless another has begun, or it completed or aborted.
    fn leased(&mut self, lease: &Lease) -> Option<&mut Leased> {
        match &mut self.state {
            State::Leased(leased) if leased.fence == lease.fence && leased.op == lease.op => Some(leased),
            _ => None,
        }
    }

    fn fingerprint(&self) -> Option<&Fingerprint> {
        match &self.state {
            State::Vacant => None,
            State::Leased(leased) => leased.fingerprint.as_ref(),
            State::Done(done) => done.fingerprint.as_ref(),
        }
    }

    fn is_of_another(&self, fingerprint: Option<&Fingerprint>) -> bool {
        self.fingerprint().zip(fingerprint).is_some_and(|(known, asked)| known != asked)
    }
}

impl MemoryLeaseRepo {
    /// A new lease, with a greater number than any before.
    fn start(
        &self,
        record: &mut Record,
        id: &DedupId,
        op: &OpId,
        until: Time,
        fingerprint: Option<&Fingerprint>,
    ) -> Begun {
        let fence = Fence::new(self.0.next_number());
        record.state = State::Leased(Leased { op: op.clone(), fence, until, fingerprint: fingerprint.cloned() });
        started(id, op, fence)
    }
}

fn started(id: &DedupId, op: &OpId, fence: Fence) -> Begun {
    Begun::Started(Lease { id: id.clone(), op: op.clone(), fence })
}

fn aborted_before(record: &Record, op: &OpId) -> Aborted {
    if record.has_ended(op) { Aborted::Aborted } else { Aborted::Fenced }
}

#[async_trait]
impl LeaseRepo for MemoryLeaseRepo {
    #[instrument(level = "trace", skip_all)]
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        Ok(self.0.step(id, |record, now| match &record.state {
            _ if record.has_ended(op) => Begun::Fenced,
            State::Leased(leased) if leased.until <= now => self.start(record, id, op, now.after(term), fingerprint),
            _ if record.is_of_another(fingerprint) => Begun::Mismatch,
            State::Done(done) => Begun::Done(done.entry.clone()),
            State::Leased(leased) if leased.op == *op => started(id, op, leased.fence),
            State::Leased(leased) => Begun::InFlight { remaining: now.until(leased.until) },
            State::Vacant => self.start(record, id, op, now.after(term), fingerprint),
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = retention.checked()?;
        Ok(self.0.step(&lease.id, |record, now| {
            if let Some(done) = record.done().filter(|done| done.fence == Some(lease.fence)) {
                return Completed::Again(done.entry.clone());
            }
            let Some(leased) = record.leased(lease) else {
                return Completed::Fenced;
            };
            let mut done = self.0.done(result, &lease.op, now, retention);
            done.fence = Some(lease.fence);
            done.fingerprint = leased.fingerprint.take();
            let entry = done.entry.clone();
            record.state = State::Done(done);
            Completed::Completed(entry)
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        Ok(self.0.step(&lease.id, |record, now| match record.leased(lease) {
            Some(_) => {
                record.end(now);
                Aborted::Aborted
            }
            None => aborted_before(record, &lease.op),
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = checked_duration("lease", term)?;
        Ok(self.0.step(&lease.id, |record, now| match record.leased(lease) {
            Some(leased) => {
                leased.until = leased.until.max(now.after(term));
                LeaseExtended::Extended
            }
            None => LeaseExtended::Fenced,
        }))
    }
}
