//! Leases over the deduplication records of the same name.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::backend::rules::{IdState, started};
use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Entry, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload,
    Result, Retention, Version, async_trait, checked_duration,
};
use tracing::instrument;

use crate::client::{Client, Write};
use crate::clock::Millis;
use crate::records::{DONE, ENDED, LEASED, Record, Records, Step};

/// The condition that the id has this lease, alive or lapsed (D-5).
const HELD: &str = "s = :leased AND f = :fence AND c = :op";

#[derive(Debug)]
pub(crate) struct DynamoLeaseRepo(pub(crate) Arc<Records>);

impl DynamoLeaseRepo {
    fn client(&self) -> &Client {
        self.0.client()
    }

    fn start(
        &self,
        record: &Record,
        (id, op): (&DedupId, &OpId),
        term: Duration,
        asked: Option<&Fingerprint>,
    ) -> Step<Begun> {
        let fence = Fence::new(self.client().number_after(record.last));
        let lease = record.state.next_lease(op, fence, self.client().end_of(term), asked);
        Step::Write(IdState::Leased(lease), started(id, op, fence))
    }
}

/// Adds to the write the condition that the id has this lease, and a second condition.
fn if_held(write: Write, lease: &Lease, and: &str) -> Write {
    let write = write.only_if(format!("{HELD}{and}")).value(":leased", LEASED);
    write.value(":fence", lease.fence.number()).value(":op", lease.op.as_str())
}

#[async_trait]
impl LeaseRepo for DynamoLeaseRepo {
    #[instrument(level = "trace", skip_all)]
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        let judge = |record: &Record, past: Millis| {
            let known = record.state.begin((id, op), fingerprint, record.has_ended(op), past);
            known.map_or_else(|| self.start(record, (id, op), term, fingerprint), Step::Answer)
        };
        self.0.step("begin", (id, op), judge).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = retention.checked()?;
        let completed = |version| Completed::Completed(Entry { value: result.clone(), version: Version::new(version) });
        let change = |key: &_| {
            let until = self.client().end_of_retention(retention);
            let version = self.client().number_after(lease.fence.number());
            let done = Write::update(key).set("s", DONE).set("v", result.as_bytes()).set("n", version);
            let done = self.0.expiring(done.set_some("x", until.map(|until| until.0)), until).remove(&["u"]);
            (if_held(done, lease, ""), completed(version))
        };
        let refused = |record: &Record| match record.is_own {
            true => Some(completed(record.last)),
            false => record.state.complete(lease),
        };
        self.0.change("complete", (&lease.id, None), change, refused).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        let change = |key: &_| {
            let now = self.client().now();
            let ended = Write::update(key).set("s", ENDED).set("y", now.0);
            // The inherited fingerprint `q` stays, because an abort ends only its own lease.
            let ended = self.0.expiring(ended, Some(now)).remove(&["f", "u", "p"]);
            (if_held(ended, lease, ""), Aborted::Aborted)
        };
        let refused = |record: &Record| match record.is_own {
            true => Some(Aborted::Aborted),
            false => record.state.abort(lease, record.has_ended(&lease.op)),
        };
        self.0.change("abort", (&lease.id, Some(&lease.op)), change, refused).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = checked_duration("lease", term)?;
        let change = |key: &_| {
            let until = self.client().end_of(term);
            let longer = self.0.expiring(Write::update(key).set("u", until.0), Some(until));
            (if_held(longer, lease, " AND u < :u"), LeaseExtended::Extended)
        };
        // If the id still has this lease, the write was refused because the lease already ends later.
        let refused = |record: &Record| match record.state.holds(lease) {
            true => Some(LeaseExtended::Extended),
            false => Some(LeaseExtended::Fenced),
        };
        self.0.change("extend", (&lease.id, None), change, refused).await
    }
}
