//! A bank that also tells whether an attempt was lost, so that the store may have applied it without an answer.

use std::sync::atomic::{AtomicBool, Ordering};

use storagebox::bank::Added;
use storagebox::time::TokioTimer;
use storagebox::values::{ClaimId, Item, Namespace};
use storagebox::{Bank, Certainty, Result, Retry, Store, Taken};
use tracing::{Instrument, debug, debug_span};

/// Makes the retries itself, because a handle with retries shows only the last attempt.
#[derive(Clone)]
pub(crate) struct LossAwareBank {
    once: Bank,
    retry: Retry,
}

impl LossAwareBank {
    pub(crate) fn open(store: &Store, name: &Namespace, retry: Retry) -> Result<Self> {
        Ok(Self { once: store.clone().without_retry().bank(name)?, retry })
    }

    /// Adds the items. Returns also whether an attempt was lost.
    pub(crate) async fn add(&self, items: &[Item]) -> Result<(Added, bool)> {
        let lost = AtomicBool::new(false);
        let attempts = self.retry.call(&TokioTimer, || watched(self.once.add(items), &lost));
        let added = attempts.instrument(debug_span!("call", operation = "add")).await?;
        Ok((added, lost.into_inner()))
    }

    /// Assigns an item to the id. Returns also whether an attempt was lost.
    pub(crate) async fn assign(&self, id: &ClaimId) -> Result<(Taken, bool)> {
        let lost = AtomicBool::new(false);
        let attempts = self.retry.call(&TokioTimer, || watched(self.once.assign(id), &lost));
        let taken = attempts.instrument(debug_span!("call", operation = "take")).await?;
        Ok((taken, lost.into_inner()))
    }
}

async fn watched<T>(attempt: impl Future<Output = Result<T>>, lost: &AtomicBool) -> Result<T> {
    attempt.await.inspect_err(|error| {
        debug!(%error, "an attempt failed");
        lost.fetch_or(error.certainty() == Certainty::Unknown, Ordering::Relaxed);
    })
}
