//! A copy of a message, of whichever transport.

use std::fmt;
use std::time::Duration;

use storagebox::async_trait;
use storagebox::messages::BoxError;
use storagebox_transports::{Delivery, Malformed, Received, Settle};

/// A delivery of any transport, with or without the token that it came with.
pub(crate) struct Copy {
    delivery: Box<dyn Delivery>,
    received: Result<Received, Malformed>,
}

impl Copy {
    /// `bare` takes the token away, as if its sender had created none: for the run with the deduplication off.
    pub(crate) fn of(delivery: impl Delivery, bare: bool) -> Self {
        let received = delivery.received().cloned();
        let received = received.map(|received| Received { token: received.token.filter(|_| !bare), ..received });
        Self { delivery: Box::new(delivery), received }
    }
}

impl fmt::Debug for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.received.as_ref().map(|received| &received.id);
        f.debug_struct("Copy").field("id", &id).finish_non_exhaustive()
    }
}

#[async_trait]
impl Delivery for Copy {
    fn received(&self) -> Result<&Received, Malformed> {
        self.received.as_ref().map_err(Clone::clone)
    }

    fn attempt(&self) -> u32 {
        self.delivery.attempt()
    }

    fn lapsed(&self) -> Option<u32> {
        self.delivery.lapsed()
    }

    async fn begin_alone(&self) -> Result<(), BoxError> {
        self.delivery.begin_alone().await
    }

    async fn extend(&self, lease: Duration) -> Result<(), BoxError> {
        self.delivery.extend(lease).await
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        self.delivery.settle(settle).await
    }
}
