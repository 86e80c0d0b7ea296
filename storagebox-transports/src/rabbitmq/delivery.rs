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

/// It goes back to the queue.
const BACK: BasicRejectOptions = BasicRejectOptions { requeue: true };

/// One copy of a message of a [`RabbitQueue`].
pub struct RabbitDelivery {
    message: message::Delivery,
    received: Result<Received, Malformed>,
    /// It comes from the queue of those that run alone.
    is_alone: bool,
    origin: Origin,
}

/// Where a message came from.
#[derive(Clone)]
pub(super) struct Origin {
    pub(super) connection: RabbitQueues,
    pub(super) queue: Arc<RabbitQueue>,
    /// The message is ours for as long as it is open.
    pub(super) channel: Channel,
}

impl RabbitDelivery {
    pub(super) fn new(message: message::Delivery, is_alone: bool, origin: Origin) -> Self {
        Self { received: copies::read(&message), message, is_alone, origin }
    }

    /// Whether it came back to a queue whose messages run beside each other.
    pub(super) fn is_suspect(&self) -> bool {
        !self.is_alone && copies::came_back(&self.message.properties) > 0
    }

    /// Moves it to the queue of those that run alone.
    pub(super) async fn set_apart(&self) -> Result<(), BoxError> {
        parking::set_apart(&self.origin.connection, &self.origin.queue, &self.message).await?;
        self.ack().await
    }

    /// An error if the message is not ours any more.
    fn is_ours(&self) -> Result<(), BoxError> {
        if self.message.acker.usable() { Ok(()) } else { Err("the channel of the message is closed".into()) }
    }

    async fn ack(&self) -> Result<(), BoxError> {
        self.answered(self.message.acker.ack(BasicAckOptions::default())).await
    }

    /// The library says whether the message was still ours.
    async fn answered(&self, answer: impl Future<Output = lapin::Result<bool>>) -> Result<(), BoxError> {
        match self.origin.connection.access.in_time(answer).await? {
            true => Ok(()),
            false => Err("the channel of the message is closed".into()),
        }
    }
}

/// Shows the id and no more: bodies and headers are their sender's affair.
impl fmt::Debug for RabbitDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.received.as_ref().map(|received| &received.id);
        f.debug_struct("RabbitDelivery").field("id", &id).finish_non_exhaustive()
    }
}

/// A message that nobody settled goes back to the queue: its channel may stay open for long.
impl Drop for RabbitDelivery {
    fn drop(&mut self) {
        // The first look at the future sends the word; nobody waits for its end.
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

    /// The queue of those that run alone hands each worker one message at a time, so what came back to it counts its runs.
    fn lapsed(&self) -> Option<u32> {
        self.is_alone.then(|| copies::came_back(&self.message.properties))
    }

    /// Does nothing: the message is ours for as long as its channel is open, and the broker's `consumer_timeout` cannot
    /// be extended.
    async fn extend(&self, _: Duration) -> Result<(), BoxError> {
        self.is_ours()
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        // No copy is made of a message that is another worker's by now.
        self.is_ours()?;
        let Origin { connection, queue, .. } = &self.origin;
        match settle {
            Settle::Ack => {}
            Settle::Retry { after } => match queue.waiting(after).filter(|_| !after.is_zero()) {
                Some(waiting) => parking::postpone(connection, queue, &waiting, &self.message).await?,
                // What comes back to the queue of those that run alone counts as a run.
                None if self.is_alone => parking::postpone(connection, queue, queue.name(), &self.message).await?,
                None => return self.answered(self.message.acker.reject(BACK)).await,
            },
            Settle::Park => parking::park(connection, queue, &self.message).await?,
        }
        self.ack().await
    }
}
