//! Leases over the deduplication records of the same name.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Entry, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload,
    Result, Retention, Version, async_trait, checked_duration,
};
use tracing::instrument;

use crate::client::{Client, Write, expiry};
use crate::clock::Millis;
use crate::records::{DONE, ENDED, LEASED, Leased, Named, Record, Records, State, Step};

/// Nobody has begun since, and the lease neither completed nor aborted. Its end does not matter (D-5).
const HELD: &str = "s = :leased AND f = :fence AND c = :op";

#[derive(Debug)]
pub(crate) struct DynamoLeaseRepo(pub(crate) Arc<Records>);

impl DynamoLeaseRepo {
    fn client(&self) -> &Client {
        self.0.client()
    }

    /// A new lease, with a greater number than any before, and with the fingerprint of a lapsed one, if that had any.
    fn start(
        &self,
        record: &Record,
        id: &DedupId,
        op: &OpId,
        term: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Step<Begun> {
        let fence = Fence::new(self.client().number_after(record.last));
        let until = self.client().end_of(term);
        let inherited = record.fingerprint().cloned();
        let leased = Leased { op: op.clone(), fence, until, fingerprint: fingerprint.cloned(), inherited };
        Step::Write(State::Leased(leased), started(id, op, fence))
    }
}

fn started(id: &DedupId, op: &OpId, fence: Fence) -> Begun {
    Begun::Started(Lease { id: id.clone(), op: op.clone(), fence })
}

/// The row of a lease, and the number in it while it is held.
fn of(lease: &Lease) -> Named<'_> {
    (&lease.id, lease.fence.number(), None)
}

/// The condition that the lease is held, and what else.
fn if_held(write: Write, lease: &Lease, and: &str) -> Write {
    let write = write.only_if(format!("{HELD}{and}")).value(":leased", LEASED);
    write.value(":fence", lease.fence.number()).value(":op", lease.op.as_str())
}

#[async_trait]
impl LeaseRepo for DynamoLeaseRepo {
    #[instrument(level = "trace", skip_all)]
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        let judge = |record: &Record, past: Millis| match &record.state {
            _ if record.has_ended(op) => Step::Answer(Begun::Fenced),
            _ if record.is_of_another(fingerprint) => Step::Answer(Begun::Mismatch),
            Some(State::Leased(leased)) if leased.until <= past => self.start(record, id, op, term, fingerprint),
            Some(State::Done(done)) => Step::Answer(Begun::Done(done.entry.clone())),
            Some(State::Leased(leased)) if leased.op == *op => Step::Answer(started(id, op, leased.fence)),
            Some(State::Leased(leased)) => Step::Answer(Begun::InFlight { remaining: past.until(leased.until) }),
            None => self.start(record, id, op, term, fingerprint),
        };
        self.0.step("begin", (id, op), judge).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = retention.checked()?;
        let change = |key: &_| {
            let until = expiry(self.client(), retention);
            let version = self.client().number_after(lease.fence.number());
            let done = Write::update(key).set("s", DONE).set("v", result.as_bytes()).set("n", version);
            let done = self.0.kept(done.set_some("x", until), until.map(Millis)).remove(&["u"]);
            let entry = Entry { value: result.clone(), version: Version::new(version) };
            (if_held(done, lease, ""), Completed::Completed(entry))
        };
        let refused = |record: &Record| match record.done() {
            Some(done) if done.fence == Some(lease.fence) => Some(Completed::Again(done.entry.clone())),
            _ if record.leased(lease).is_some() => None,
            _ => Some(Completed::Fenced),
        };
        self.0.change("complete", of(lease), change, refused).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        let change = |key: &_| {
            let now = self.client().now();
            let ended = Write::update(key).set("s", ENDED).set("y", now.0);
            // What the lease inherited, `q`, stays: the abort speaks for this lease alone.
            let ended = self.0.kept(ended, Some(now)).remove(&["f", "u", "p"]);
            (if_held(ended, lease, ""), Aborted::Aborted)
        };
        let refused = |record: &Record| match record.leased(lease) {
            Some(_) => None,
            None if record.has_ended(&lease.op) => Some(Aborted::Aborted),
            None => Some(Aborted::Fenced),
        };
        let (id, number, _) = of(lease);
        self.0.change("abort", (id, number, Some(&lease.op)), change, refused).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = checked_duration("lease", term)?;
        let change = |key: &_| {
            let until = self.client().end_of(term);
            let longer = self.0.kept(Write::update(key).set("u", until.0), Some(until));
            (if_held(longer, lease, " AND u < :u"), LeaseExtended::Extended)
        };
        let refused = |record: &Record| match record.leased(lease) {
            // It was held, so its end was no earlier than asked for.
            Some(_) => Some(LeaseExtended::Extended),
            None => Some(LeaseExtended::Fenced),
        };
        self.0.change("extend", of(lease), change, refused).await
    }
}
