//! Where deliveries come from: a consumer on a connection of its own, both made anew after an error.

use std::sync::Arc;

use futures_util::{FutureExt, Stream, StreamExt, stream};
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::protocol::constants::REPLY_SUCCESS;
use lapin::types::FieldTable;
use lapin::{Channel, Consumer};
use storagebox_core::BoxError;
use tokio::runtime::Handle;

use super::connect::{Access, short};
use super::delivery::BACK;
use super::{RabbitDelivery, RabbitQueue, RabbitQueues};
use crate::reconnect::Pauses;

pub(super) fn deliveries(
    connection: RabbitQueues,
    queue: RabbitQueue,
) -> impl Stream<Item = Result<RabbitDelivery, BoxError>> + Send {
    let source = Source { connection, queue: Arc::new(queue), open: None, pauses: Pauses::default() };
    stream::unfold(source, |mut source| async move { Some((source.next().await, source)) })
}

struct Source {
    connection: RabbitQueues,
    queue: Arc<RabbitQueue>,
    open: Option<(Consumer, Channel)>,
    pauses: Pauses,
}

impl Source {
    async fn next(&mut self) -> Result<RabbitDelivery, BoxError> {
        self.pauses.wait().await;
        let outcome = self.receive().await;
        self.pauses.note(&outcome);
        if let Err(error) = &outcome {
            tracing::debug!(queue = self.queue.name(), %error, "RabbitMQ is connected anew");
            self.open = None;
        }
        outcome
    }

    async fn receive(&mut self) -> Result<RabbitDelivery, BoxError> {
        if self.open.is_none() {
            self.open = Some(self.open().await?);
        }
        let (consumer, channel) = self.open.as_mut().ok_or("RabbitMQ is not connected")?;
        let message = consumer.next().await.ok_or("RabbitMQ has cancelled the consumer")??;
        Ok(RabbitDelivery::new(message, self.connection.clone(), self.queue.clone(), channel.clone()))
    }

    async fn open(&self) -> Result<(Consumer, Channel), BoxError> {
        let access = &self.connection.access;
        let mut opening = Opening { channel: access.channel().await?, has_consumer: false };
        let channel = opening.channel.clone();
        access.in_time(channel.basic_qos(self.queue.fetched(), BasicQosOptions::default())).await?;
        let (name, options) = (short(self.queue.name())?, BasicConsumeOptions::default());
        let consumer = channel.basic_consume(name, "".into(), options, FieldTable::default());
        let consumer = access.in_time(consumer).await?;
        opening.has_consumer = true;
        Ok((consumer, channel))
    }
}

/// A channel that may get its consumer when nobody waits for it any more. Such a consumer would keep the channel open,
/// and with it all that the broker has sent, so the channel is closed.
struct Opening {
    channel: Channel,
    has_consumer: bool,
}

impl Drop for Opening {
    fn drop(&mut self) {
        if !self.has_consumer {
            // The first look at the future sends the word; nobody waits for its end.
            let _ = self.channel.close(REPLY_SUCCESS, "".into()).now_or_never();
        }
    }
}

/// The deliveries that were returned keep the channel open, so what was fetched and not returned is given back here.
impl Drop for Source {
    fn drop(&mut self) {
        if let (Some((consumer, channel)), Ok(runtime)) = (self.open.take(), Handle::try_current()) {
            runtime.spawn(give_back(self.connection.access.clone(), consumer, channel));
        }
    }
}

/// Cancels the consumer and gives back what it had fetched. An error ends it, and so does a broker that does not answer in
/// time: what is not given back here comes again when the channel is closed.
async fn give_back(access: Access, mut consumer: Consumer, channel: Channel) {
    let cancelled = channel.basic_cancel(consumer.tag(), BasicCancelOptions::default());
    if access.in_time(cancelled).await.is_ok() {
        while let Some(Ok(message)) = consumer.next().await {
            let _ = message.reject(BACK).await;
        }
    }
}
