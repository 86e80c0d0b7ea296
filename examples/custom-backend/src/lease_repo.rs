//! Leases over the deduplication records of the same name.

use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload, Result,
    Retention, async_trait, checked_duration,
};

use crate::client::Step;
use crate::error::Stepped;
use crate::records::{Record, Slot};
use crate::space::Space;
use crate::time::{after, is_forgotten, remaining};

#[derive(Debug)]
pub(crate) struct RedbLeaseRepo(pub(crate) Space);

impl Record {
    /// Returns the fingerprint of the id, unless its lease lapsed so long ago that the fingerprint is forgotten (D-6).
    fn known_fingerprint(&self, now: i64) -> Option<&str> {
        let is_forgotten = self.result.is_none() && is_forgotten(self.until, now);
        self.fingerprint.as_deref().filter(|_| !is_forgotten)
    }

    /// Returns whether the id and the request both have a fingerprint, and the fingerprints differ (D-6).
    fn is_of_another(&self, asked: Option<&Fingerprint>, now: i64) -> bool {
        self.known_fingerprint(now).zip(asked).is_some_and(|(known, asked)| known != asked.as_str())
    }

    /// Returns whether the row still belongs to this lease: no result is recorded, and no other operation has begun
    /// (D-5).
    fn is_held_by(&self, lease: &Lease) -> bool {
        self.result.is_none() && self.fence == lease.fence.number() && self.op == lease.op.as_str()
    }
}

fn begin(step: &Step, name: &str, id: &DedupId, op: &OpId, term: Duration, of: Option<&Fingerprint>) -> Stepped<Begun> {
    let slot = Slot::of(step, name, id)?;
    let started = |fence| Begun::Started(Lease { id: id.clone(), op: op.clone(), fence: Fence::new(fence) });
    if slot.has_ended(op)? {
        return Ok(Begun::Fenced);
    }
    match &slot.record {
        Some(known) if known.is_of_another(of, step.now) => return Ok(Begun::Mismatch),
        Some(lease) if lease.result.is_none() && lease.until <= step.now => {}
        Some(Record { result: Some(known), .. }) => return Ok(Begun::Done(known.entry.clone())),
        Some(lease) if lease.op == op.as_str() => return Ok(started(lease.fence)),
        Some(lease) => return Ok(Begun::InFlight { remaining: remaining(step.now, lease.until) }),
        None => {}
    }
    let inherited = slot.record.as_ref().and_then(|lapsed| lapsed.known_fingerprint(step.now));
    let fingerprint = inherited.or(of.map(Fingerprint::as_str)).map(str::to_owned);
    let (fence, until, is_inherited) = (step.next_number()?, after(step.now, term), inherited.is_some());
    slot.put(&Record { op: op.as_str().to_owned(), fingerprint, is_inherited, fence, until, result: None })?;
    Ok(started(fence))
}

fn complete(step: &Step, name: &str, lease: &Lease, value: &Payload, retention: Retention) -> Stepped<Completed> {
    let mut slot = Slot::of(step, name, &lease.id)?;
    match slot.record.take() {
        Some(Record { result: Some(known), fence, .. }) if fence == lease.fence.number() => {
            Ok(Completed::Again(known.entry))
        }
        Some(held) if held.is_held_by(lease) => {
            let of_lease = Some((lease.fence, held.fingerprint));
            slot.finish(&lease.op, of_lease, value, retention).map(Completed::Completed)
        }
        _ => Ok(Completed::Fenced),
    }
}

fn abort(step: &Step, name: &str, lease: &Lease) -> Stepped<Aborted> {
    let mut slot = Slot::of(step, name, &lease.id)?;
    if let Some(mut held) = slot.record.take_if(|held| held.is_held_by(lease)) {
        slot.fence(&held.op, step.now)?;
        // The abort says only that this lease had no effect. An earlier lease that lapsed may have had one.
        if held.is_inherited {
            (held.op, held.until) = (String::new(), step.now);
            slot.put(&held)?;
        } else {
            slot.remove()?;
        }
    }
    Ok(if slot.has_ended(&lease.op)? { Aborted::Aborted } else { Aborted::Fenced })
}

fn extend(step: &Step, name: &str, lease: &Lease, term: Duration) -> Stepped<LeaseExtended> {
    let mut slot = Slot::of(step, name, &lease.id)?;
    let Some(held) = slot.record.take().filter(|held| held.is_held_by(lease)) else {
        return Ok(LeaseExtended::Fenced);
    };
    slot.put(&Record { until: held.until.max(after(step.now, term)), ..held })?;
    Ok(LeaseExtended::Extended)
}

#[async_trait]
impl LeaseRepo for RedbLeaseRepo {
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        let (id, op, of) = (id.clone(), op.clone(), fingerprint.cloned());
        self.0.write("begin", move |step, name| begin(step, name, &id, &op, term, of.as_ref())).await
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = retention.checked()?;
        let (lease, result) = (lease.clone(), result.clone());
        self.0.write("complete", move |step, name| complete(step, name, &lease, &result, retention)).await
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        let lease = lease.clone();
        self.0.write("abort", move |step, name| abort(step, name, &lease)).await
    }

    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = checked_duration("lease", term)?;
        let lease = lease.clone();
        self.0.write("extend", move |step, name| extend(step, name, &lease, term)).await
    }
}
