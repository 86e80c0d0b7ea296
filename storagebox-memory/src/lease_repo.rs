//! Leases over the deduplication records of the same name.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload, Result,
    Retention, async_trait, checked_duration,
};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::records::{Leased, Record, Records, State, Unsettled};

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

    /// The fingerprint of the id, which outlives a lease that lapsed for as long as operations are remembered (D-6).
    fn fingerprint(&self, settings: &Settings, now: Time) -> Option<&Fingerprint> {
        match &self.state {
            State::Vacant => None,
            State::Unsettled(unsettled) if settings.is_forgotten(unsettled.since, now) => None,
            State::Unsettled(unsettled) => Some(&unsettled.fingerprint),
            State::Leased(leased) if settings.is_forgotten(leased.until, now) => None,
            State::Leased(leased) => leased.fingerprint.as_ref(),
            State::Done(done) => done.fingerprint.as_ref(),
        }
    }

    /// Ends a lease that is held. The abort speaks for this lease alone, so a fingerprint that it inherited stays.
    fn abort(&mut self, now: Time) {
        let kept = match &mut self.state {
            State::Leased(leased) if leased.is_inherited => leased.fingerprint.take(),
            _ => None,
        };
        self.end(now);
        if let Some(fingerprint) = kept {
            self.state = State::Unsettled(Unsettled { fingerprint, since: now });
        }
    }
}

impl MemoryLeaseRepo {
    /// A new lease, with a greater number than any before, and with the fingerprint of a lapsed one, if that had any.
    fn start(
        &self,
        record: &mut Record,
        (id, op): (&DedupId, &OpId),
        (now, term): (Time, Duration),
        asked: Option<&Fingerprint>,
    ) -> Begun {
        let fence = Fence::new(self.0.next_number());
        let inherited = record.fingerprint(&self.0.settings, now).cloned();
        let is_inherited = inherited.is_some();
        let fingerprint = inherited.or_else(|| asked.cloned());
        let until = now.after(term);
        record.state = State::Leased(Leased { op: op.clone(), fence, until, fingerprint, is_inherited });
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
        Ok(self.0.step(id, |record, now| {
            let known = record.fingerprint(&self.0.settings, now);
            let is_of_another = known.zip(fingerprint).is_some_and(|(known, asked)| known != asked);
            match &record.state {
                _ if record.has_ended(op) => Begun::Fenced,
                _ if is_of_another => Begun::Mismatch,
                State::Done(done) => Begun::Done(done.entry.clone()),
                State::Leased(leased) if now < leased.until && leased.op == *op => started(id, op, leased.fence),
                State::Leased(leased) if now < leased.until => Begun::InFlight { remaining: now.until(leased.until) },
                State::Leased(_) | State::Unsettled(_) | State::Vacant => {
                    self.start(record, (id, op), (now, term), fingerprint)
                }
            }
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
                record.abort(now);
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
