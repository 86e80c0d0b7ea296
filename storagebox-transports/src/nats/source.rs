//! Where deliveries come from: a pull of messages that is begun anew after an error.

use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use futures_util::{Stream, StreamExt, stream};
use storagebox_core::BoxError;

use super::parking::Place;
use super::{NatsDelivery, NatsQueue, NatsQueues};
use crate::reconnect::Pauses;

/// How long the server keeps a request for messages.
const EXPIRES: Duration = Duration::from_secs(30);
/// How often it says that it still does. Two of them missing are an error.
const HEARTBEAT: Duration = Duration::from_secs(5);

pub(super) fn deliveries(
    connection: NatsQueues,
    queue: NatsQueue,
) -> impl Stream<Item = Result<NatsDelivery, BoxError>> + Send {
    let source = Source { parking: Place::of(&queue), connection, queue, messages: None, pauses: Pauses::default() };
    stream::unfold(source, |mut source| async move { Some((source.next().await, source)) })
}

struct Source {
    connection: NatsQueues,
    queue: NatsQueue,
    parking: Place,
    messages: Option<pull::Stream>,
    pauses: Pauses,
}

impl Source {
    async fn next(&mut self) -> Result<NatsDelivery, BoxError> {
        self.pauses.wait().await;
        let outcome = self.receive().await;
        self.pauses.note(&outcome);
        if let Err(error) = &outcome {
            tracing::debug!(stream = self.queue.stream(), %error, "the messages of NATS are asked for anew");
            self.messages = None;
        }
        outcome
    }

    async fn receive(&mut self) -> Result<NatsDelivery, BoxError> {
        let mut messages = match self.messages.take() {
            Some(messages) => messages,
            None => self.pull().await?,
        };
        let message = messages.next().await.ok_or("the messages of NATS have ended")??;
        self.messages = Some(messages);
        Ok(NatsDelivery::new(message, self.parking.clone()))
    }

    async fn pull(&self) -> Result<pull::Stream, BoxError> {
        let (consumer, stream) = (self.queue.consumer_name(), self.queue.stream());
        let jetstream = &self.connection.jetstream;
        let consumer = jetstream.get_consumer_from_stream::<pull::Config, _, _>(consumer, stream).await?;
        let pull = consumer.stream().max_messages_per_batch(self.queue.batch()).expires(EXPIRES);
        Ok(pull.heartbeat(HEARTBEAT).messages().await?)
    }
}
