//! The source of deliveries: consumers on a separate connection, which are opened again after an error.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, Stream, StreamExt, stream};
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::protocol::constants::REPLY_SUCCESS;
use lapin::types::FieldTable;
use lapin::{Channel, Consumer};
use storagebox_core::BoxError;
use tokio::runtime::Handle;

use super::connect::{of_consumer, short};
use super::delivery::Origin;
use super::parking::is_gone;
use super::{RabbitDelivery, RabbitQueue, RabbitQueues};
use crate::delivery::{Delivery, Settle};
use crate::reconnect::Pauses;

pub(super) fn deliveries(
    connection: RabbitQueues,
    queue: RabbitQueue,
) -> impl Stream<Item = Result<RabbitDelivery, BoxError>> + Send {
    let source = Source { connection, queue: Arc::new(queue), open: None, apart: None, pauses: Pauses::default() };
    stream::unfold(source, |mut source| async move { Some((source.next().await, source)) })
}

struct Source {
    connection: RabbitQueues,
    queue: Arc<RabbitQueue>,
    open: Option<Open>,
    /// The message that is being moved to the queue of messages that run alone.
    apart: Option<RabbitDelivery>,
    pauses: Pauses,
}

impl Source {
    async fn next(&mut self) -> Result<RabbitDelivery, BoxError> {
        self.pauses.wait().await;
        let outcome = self.receive().await;
        self.pauses.note(&outcome);
        if let Err(error) = &outcome {
            // A message that could not be moved is still ours. If the channel were closed, the broker would count it as
            // come back, and with it all that were fetched.
            if self.apart.is_none() {
                self.open = None;
            }
            self.make_again(error).await;
        }
        outcome
    }

    /// Creates all queues if the error says that a queue is missing.
    async fn make_again(&self, error: &BoxError) {
        // A worker without the right to create them waits until another client has.
        if is_gone(error) && self.connection.setup(&self.queue).await.is_ok() {
            tracing::warn!(queue = self.queue.name(), "the queue was missing and was created again");
        }
    }

    async fn receive(&mut self) -> Result<RabbitDelivery, BoxError> {
        loop {
            self.set_apart().await?;
            let delivery = self.take().await?;
            if !delivery.is_suspect() {
                return Ok(delivery);
            }
            self.apart = Some(delivery);
        }
    }

    /// Moves the message in `apart`. If that fails, keeps the message there while it belongs to this worker.
    async fn set_apart(&mut self) -> Result<(), BoxError> {
        let Some(delivery) = self.apart.take() else { return Ok(()) };
        let outcome = delivery.set_apart().await;
        self.apart = Some(delivery).filter(|delivery| outcome.is_err() && delivery.is_ours().is_ok());
        outcome
    }

    async fn take(&mut self) -> Result<RabbitDelivery, BoxError> {
        if self.open.is_none() {
            self.open = Some(self.open().await?);
        }
        let open = self.open.as_mut().ok_or("RabbitMQ is not connected")?;
        let (message, is_alone) = tokio::select! {
            biased;
            message = open.alone.next() => (message, true),
            message = open.queue.next() => (message, false),
        };
        let message = message.ok_or("RabbitMQ has cancelled the consumer")?.map_err(of_consumer)?;
        Ok(RabbitDelivery::new(message, is_alone, open.origin.clone()))
    }

    async fn open(&self) -> Result<Open, BoxError> {
        let mut opening = Opening { channel: self.connection.access.channel().await?, has_consumers: false };
        let channel = opening.channel.clone();
        let queue = self.consumer(&channel, self.queue.name(), self.queue.fetched()).await?;
        let alone = self.consumer(&channel, &self.queue.alone_name(), 1).await?;
        opening.has_consumers = true;
        let origin = Origin { connection: self.connection.clone(), queue: self.queue.clone(), channel };
        Ok(Open { queue, alone, origin })
    }

    async fn consumer(&self, channel: &Channel, queue: &str, fetched: u16) -> Result<Consumer, BoxError> {
        let access = &self.connection.access;
        // The limit applies to the next consumer of the channel.
        access.in_time(channel.basic_qos(fetched, BasicQosOptions::default())).await?;
        let options = BasicConsumeOptions::default();
        let consumer = channel.basic_consume(short(queue)?, "".into(), options, FieldTable::default());
        Ok(access.in_time(consumer).await?)
    }
}

struct Open {
    queue: Consumer,
    /// The consumer of messages that run alone.
    alone: Consumer,
    origin: Origin,
}

/// A channel that is closed on drop unless both of its consumers are open.
struct Opening {
    channel: Channel,
    has_consumers: bool,
}

impl Drop for Opening {
    fn drop(&mut self) {
        if !self.has_consumers {
            // The first poll of the future sends the request. `drop` cannot wait for the answer.
            let _ = self.channel.close(REPLY_SUCCESS, "".into()).now_or_never();
        }
    }
}

/// Gives back the messages that were fetched and that the stream has not returned.
impl Drop for Source {
    fn drop(&mut self) {
        // The deliveries that the stream has returned keep the channel open.
        if let (Some(Open { queue, alone, origin }), Ok(runtime)) = (self.open.take(), Handle::try_current()) {
            runtime.spawn(give_back(queue, false, origin.clone()));
            runtime.spawn(give_back(alone, true, origin));
        }
    }
}

/// Cancels a consumer and gives back the messages that it has fetched. Stops at the first error.
async fn give_back(mut consumer: Consumer, is_alone: bool, origin: Origin) {
    // The broker delivers the remaining messages again when the channel is closed.
    let cancelled = origin.channel.basic_cancel(consumer.tag(), BasicCancelOptions::default());
    if origin.connection.access.in_time(cancelled).await.is_ok() {
        while let Some(Ok(message)) = consumer.next().await {
            let delivery = RabbitDelivery::new(message, is_alone, origin.clone());
            let _ = delivery.settle(Settle::Retry { after: Duration::ZERO }).await;
        }
    }
}
