//! Where deliveries come from: a consumer on a connection of its own, both made anew after an error.

use std::sync::Arc;

use futures_util::{Stream, StreamExt, stream};
use lapin::options::{BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Consumer};
use storagebox_core::BoxError;

use super::connect::short;
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
        }
        outcome
    }

    async fn receive(&mut self) -> Result<RabbitDelivery, BoxError> {
        let (mut consumer, channel) = match self.open.take() {
            Some(open) => open,
            None => self.open().await?,
        };
        let message = consumer.next().await.ok_or("RabbitMQ has cancelled the consumer")??;
        let delivery = RabbitDelivery::new(message, self.connection.clone(), self.queue.clone(), channel.clone());
        self.open = Some((consumer, channel));
        Ok(delivery)
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
