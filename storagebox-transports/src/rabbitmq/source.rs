//! Where deliveries come from: a consumer on a connection of its own, both made anew after an error.

use std::sync::Arc;

use futures_util::{Stream, StreamExt, stream};
use lapin::options::{BasicCancelOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Consumer};
use storagebox_core::BoxError;
use tokio::runtime::Handle;

use super::connect::short;
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
        let channel = access.channel().await?;
        access.in_time(channel.basic_qos(self.queue.fetched(), BasicQosOptions::default())).await?;
        let (name, options) = (short(self.queue.name())?, BasicConsumeOptions::default());
        let consumer = channel.basic_consume(name, "".into(), options, FieldTable::default());
        Ok((access.in_time(consumer).await?, channel))
    }
}

/// The deliveries that were returned keep the channel open, so what was fetched and not returned is given back here.
impl Drop for Source {
    fn drop(&mut self) {
        if let (Some((consumer, channel)), Ok(runtime)) = (self.open.take(), Handle::try_current()) {
            runtime.spawn(give_back(consumer, channel));
        }
    }
}

/// Cancels the consumer and gives back what it had fetched. An error ends it: then the channel is closed, and the broker
/// has taken all of it back.
async fn give_back(mut consumer: Consumer, channel: Channel) {
    if channel.basic_cancel(consumer.tag(), BasicCancelOptions::default()).await.is_ok() {
        while let Some(Ok(message)) = consumer.next().await {
            let _ = message.reject(BACK).await;
        }
    }
}
