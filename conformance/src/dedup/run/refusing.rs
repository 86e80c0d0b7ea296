//! Leases whose end cannot be recorded for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Error, ErrorKind, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload,
    Result, Retention, async_trait,
};

/// Refuses to record so often, and each time, if it looks, lets another try to begin.
pub(super) struct Refusing {
    inner: Arc<dyn LeaseRepo>,
    left: AtomicUsize,
    looks: bool,
    begun_by_others: AtomicUsize,
}

impl Refusing {
    pub(super) fn new(inner: Arc<dyn LeaseRepo>, refusals: usize, looks: bool) -> Self {
        Self { inner, left: AtomicUsize::new(refusals), looks, begun_by_others: AtomicUsize::new(0) }
    }

    pub(super) fn begun_by_others(&self) -> usize {
        self.begun_by_others.load(Ordering::SeqCst)
    }

    fn refuses(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
    }

    async fn look(&self, id: &DedupId) -> Result<()> {
        let other = self.inner.begin(id, &OpId::new("other")?, Duration::from_secs(1), None).await?;
        let begun = matches!(other, Begun::Started(_));
        self.begun_by_others.fetch_add(usize::from(begun), Ordering::SeqCst);
        Ok(())
    }
}

#[async_trait]
impl LeaseRepo for Refusing {
    async fn begin(
        &self,
        id: &DedupId,
        op: &OpId,
        duration: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        self.inner.begin(id, op, duration, fingerprint).await
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        if self.refuses() {
            if self.looks {
                self.look(&lease.id).await?;
            }
            return Err(Error::new(ErrorKind::Unavailable, "as the case asked"));
        }
        self.inner.complete(lease, result, retention).await
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        self.inner.abort(lease).await
    }

    async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        self.inner.extend(lease, duration).await
    }
}
