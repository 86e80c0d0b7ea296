//! Leases whose completion cannot be recorded for a while.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox_core::layer::{Call, Layer, LayeredPart, Next, Request, Response};
use storagebox_core::{Begun, DedupId, Error, ErrorKind, LeaseRepo, OpId, Result, async_trait};

/// A lease repository that refuses some completions.
pub(super) struct Refusing {
    inner: Arc<dyn LeaseRepo>,
    /// The number of completions that are still to be refused.
    left: AtomicUsize,
    /// Whether another operation tries to begin a lease at each refusal.
    looks: bool,
    begun_by_others: AtomicUsize,
}

impl Refusing {
    pub(super) fn new(inner: Arc<dyn LeaseRepo>, refusals: usize, looks: bool) -> Self {
        Self { inner, left: AtomicUsize::new(refusals), looks, begun_by_others: AtomicUsize::new(0) }
    }

    pub(super) fn leases(self: &Arc<Self>) -> Arc<dyn LeaseRepo> {
        Arc::new(LayeredPart::new(Arc::clone(&self.inner), Arc::clone(self) as _))
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
impl Layer for Refusing {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let Request::Complete { lease, .. } = call.request else { return next.run().await };
        if !self.refuses() {
            return next.run().await;
        }
        if self.looks {
            self.look(&lease.id).await?;
        }
        Err(Error::new(ErrorKind::Unavailable, "the case refuses this completion"))
    }
}

impl fmt::Debug for Refusing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusing").field("left", &self.left).field("looks", &self.looks).finish_non_exhaustive()
    }
}
