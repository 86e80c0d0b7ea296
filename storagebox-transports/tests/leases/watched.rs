//! Deliveries whose extensions are counted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use storagebox_core::{BoxError, async_trait};
use storagebox_transports::{Delivery, Malformed, Received, Settle};
use tokio::sync::Notify;

use super::LEASE;
use crate::checks::{Deliveries, Queue};

/// Counts how often the lease of each message has been extended.
#[derive(Clone, Default)]
pub(super) struct Extensions {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    more: Arc<Notify>,
}

impl Extensions {
    pub(super) fn of<Q: Queue>(&self, queue: &Q) -> Deliveries<Watched<Q::Delivery>> {
        let extensions = self.clone();
        queue.deliveries().map(move |item| item.map(|inner| Watched { inner, extensions: extensions.clone() })).boxed()
    }

    /// Waits until the leases of `messages` messages have been extended twice since this call.
    pub(super) async fn happen(&self, messages: usize) {
        // The first of the two extensions may have begun before the call.
        self.counts.lock().unwrap().clear();
        loop {
            let more = self.more.notified();
            if self.counts.lock().unwrap().values().filter(|count| **count >= 2).count() >= messages {
                return;
            }
            more.await;
        }
    }
}

pub(super) struct Watched<D> {
    inner: D,
    extensions: Extensions,
}

#[async_trait]
impl<D: Delivery> Delivery for Watched<D> {
    fn received(&self) -> Result<&Received, Malformed> {
        self.inner.received()
    }

    fn attempt(&self) -> u32 {
        self.inner.attempt()
    }

    fn lapsed(&self) -> Option<u32> {
        self.inner.lapsed()
    }

    async fn begin_alone(&self) -> Result<(), BoxError> {
        self.inner.begin_alone().await
    }

    /// Begins another lease of the queue's length. Ignores the shorter lease of the loop.
    async fn extend(&self, _lease: Duration) -> Result<(), BoxError> {
        self.inner.extend(LEASE).await?;
        let id = self.inner.received()?.id.as_str().to_owned();
        *self.extensions.counts.lock().unwrap().entry(id).or_default() += 1;
        self.extensions.more.notify_waiters();
        Ok(())
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        self.inner.settle(settle).await
    }
}
