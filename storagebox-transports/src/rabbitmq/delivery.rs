//! One copy of a message.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use lapin::Channel;
use lapin::message;
use lapin::options::{BasicAckOptions, BasicRejectOptions};
use storagebox_core::BoxError;

use super::{RabbitQueue, RabbitQueues, copies, parking};
use crate::delivery::{Delivery, Malformed, Received, Settle};

/// The options of a rejection that returns the message to its queue.
const BACK: BasicRejectOptions = BasicRejectOptions { requeue: true };

/// One copy of a message of a [`RabbitQueue`].
pub struct RabbitDelivery {
    message: message::Delivery,
    received: Result<Received, Malformed>,
    /// Whether the message comes from the queue of messages that run alone.
    is_alone: bool,
    origin: Origin,
}

#[derive(Clone)]
pub(super) struct Origin {
    pub(super) connection: RabbitQueues,
    pub(super) queue: Arc<RabbitQueue>,
    /// The channel on which the message arrived, and which must stay open until the message is settled.
    pub(super) channel: Channel,
}

impl RabbitDelivery {
    pub(super) fn new(message: message::Delivery, is_alone: bool, origin: Origin) -> Self {
        Self { received: copies::read(&message), message, is_alone, origin }
    }

    /// Returns whether a worker returned the message to the main queue, or ended without settling the message.
    pub(super) fn is_suspect(&self) -> bool {
        !self.is_alone && copies::came_back(&self.message.properties) > 0
    }

    /// Moves the message to the queue of messages that run alone.
    pub(super) async fn set_apart(&self) -> Result<(), BoxError> {
        // A message that belongs to another worker by now must not be copied.
        self.is_ours()?;
        parking::set_apart(&self.origin.connection, &self.origin.queue, &self.message).await?;
        self.ack().await
    }

    /// Returns an error if the message no longer belongs to this worker.
    pub(super) fn is_ours(&self) -> Result<(), BoxError> {
        if self.message.acker.usable() { Ok(()) } else { Err("the channel of the message is closed".into()) }
    }

    async fn ack(&self) -> Result<(), BoxError> {
        self.answered(self.message.acker.ack(BasicAckOptions::default())).await
    }

    /// Waits for the answer to a settlement. Returns an error if the channel of the message was closed.
    async fn answered(&self, answer: impl Future<Output = lapin::Result<bool>>) -> Result<(), BoxError> {
        match self.origin.connection.access.settled_in_time(answer).await? {
            true => Ok(()),
            false => Err("the channel of the message is closed".into()),
        }
    }
}

/// Shows only the id, because bodies and headers may be confidential.
impl fmt::Debug for RabbitDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.received.as_ref().map(|received| &received.id);
        f.debug_struct("RabbitDelivery").field("id", &id).finish_non_exhaustive()
    }
}

/// Returns an unsettled message to the queue.
impl Drop for RabbitDelivery {
    fn drop(&mut self) {
        // The channel of the message may stay open for long. The first poll of the future sends the rejection. `drop`
        // cannot wait for the answer.
        let _ = self.message.acker.reject(BACK).now_or_never();
    }
}

#[async_trait]
impl Delivery for RabbitDelivery {
    fn received(&self) -> Result<&Received, Malformed> {
        self.received.as_ref().map_err(Clone::clone)
    }

    fn attempt(&self) -> u32 {
        copies::attempt(&self.message.properties)
    }

    /// Returns how often the message came back to the queue of messages that run alone, or `None` if the message comes
    /// from the main queue.
    fn lapsed(&self) -> Option<u32> {
        // Each worker gets one message at a time from the queue of messages that run alone, so each return follows a
        // lone run.
        self.is_alone.then(|| copies::came_back(&self.message.properties))
    }

    /// Checks that the message still belongs to this worker.
    async fn extend(&self, _: Duration) -> Result<(), BoxError> {
        // The message belongs to this worker while its channel is open, and the broker's `consumer_timeout` cannot be
        // extended.
        self.is_ours()
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        // A message that belongs to another worker by now must not be copied.
        self.is_ours()?;
        let Origin { connection, queue, .. } = &self.origin;
        match settle {
            Settle::Ack => {}
            Settle::Retry { after } => match queue.waiting(after).filter(|_| !after.is_zero()) {
                Some(waiting) => parking::postpone(connection, queue, &waiting, &self.message).await?,
                // The queue of messages that run alone would count a rejection as a lone run, so a copy is sent
                // instead.
                None if self.is_alone => parking::postpone(connection, queue, queue.name(), &self.message).await?,
                None => return self.answered(self.message.acker.reject(BACK)).await,
            },
            Settle::Park => parking::park(connection, queue, &self.message).await?,
        }
        self.ack().await
    }
}
