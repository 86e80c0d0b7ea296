//! One copy of a message.

use std::fmt;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::{AckKind, Message};
use async_trait::async_trait;
use storagebox_core::BoxError;

use super::connect::Refusals;
use super::headers;
use super::parking::{self, Parking};
use super::runs::Run;
use crate::delivery::{Delivery, Malformed, Received, Settle};
use crate::wire;
use crate::wire::headers::{ID, TOKEN};

/// One copy of a message of a [`NatsQueue`](super::NatsQueue).
pub struct NatsDelivery {
    message: Message,
    received: Result<Received, Malformed>,
    parking: Parking,
    run: Run,
    refusals: Refusals,
}

impl NatsDelivery {
    pub(super) fn new(message: Message, parking: Parking, run: Run, refusals: Refusals) -> Self {
        Self { received: read(&message), message, parking, run, refusals }
    }

    /// Waits until the server confirms the answer `kind` to this delivery.
    async fn answer(&self, kind: AckKind) -> Result<(), BoxError> {
        let reply = self.message.reply.as_deref().unwrap_or_default();
        self.refusals.or_denied(reply, self.message.double_ack_with(kind)).await
    }
}

fn read(message: &Message) -> Result<Received, Malformed> {
    let none = HeaderMap::new();
    let headers = message.headers.as_ref().unwrap_or(&none);
    let (id, token) = (headers::text(headers, ID)?, headers::text(headers, TOKEN)?);
    wire::received(id.as_deref(), token.as_deref(), Some(message.payload.clone()))
}

/// Shows only the id, because bodies and headers may be confidential.
impl fmt::Debug for NatsDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.received.as_ref().map(|received| &received.id);
        f.debug_struct("NatsDelivery").field("id", &id).finish_non_exhaustive()
    }
}

#[async_trait]
impl Delivery for NatsDelivery {
    fn received(&self) -> Result<&Received, Malformed> {
        self.received.as_ref().map_err(Clone::clone)
    }

    fn attempt(&self) -> u32 {
        let delivered = self.message.info().ok().and_then(|info| u32::try_from(info.delivered).ok());
        delivered.unwrap_or(1).max(1)
    }

    fn lapsed(&self) -> Option<u32> {
        self.run.lapsed()
    }

    async fn begin_alone(&self) -> Result<(), BoxError> {
        self.run.begin_alone().await
    }

    /// Begins another lease, whose length is set in the queue's consumer. Ignores the argument.
    async fn extend(&self, _: Duration) -> Result<(), BoxError> {
        self.answer(AckKind::Progress).await
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        match settle {
            Settle::Ack => {}
            Settle::Retry { after } => {
                self.run.is_given_back().await;
                let delay = Some(after).filter(|after| !after.is_zero());
                return self.answer(AckKind::Nak(delay)).await;
            }
            Settle::Park => parking::park(&self.message, &self.parking).await?,
        }
        self.answer(AckKind::Ack).await?;
        self.run.is_over().await;
        Ok(())
    }
}
