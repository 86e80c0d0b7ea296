//! The source of deliveries: a pull request for messages, which is sent again after an error.

use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use futures_util::{Stream, StreamExt, stream};
use storagebox_core::{BoxError, Error, ErrorKind};

use super::parking::Parking;
use super::runs::Runs;
use super::{NatsDelivery, NatsQueue, NatsQueues};
use crate::reconnect::Pauses;

/// How long the server keeps a worker's request for messages.
const EXPIRES: Duration = Duration::from_secs(30);
/// The time between two heartbeats of the server during a request for messages. Two missing heartbeats are an error.
const HEARTBEAT: Duration = Duration::from_secs(5);

pub(super) fn deliveries(
    connection: NatsQueues,
    queue: NatsQueue,
) -> impl Stream<Item = Result<NatsDelivery, BoxError>> + Send {
    let source = Source { parking: Parking::of(&queue), connection, queue, messages: None, pauses: Pauses::default() };
    stream::unfold(source, |mut source| async move { Some((source.next().await, source)) })
}

struct Source {
    connection: NatsQueues,
    queue: NatsQueue,
    parking: Parking,
    messages: Option<(pull::Stream, Runs)>,
    pauses: Pauses,
}

impl Source {
    async fn next(&mut self) -> Result<NatsDelivery, BoxError> {
        self.pauses.wait().await;
        let outcome = self.receive().await.map_err(|error| self.connection.refusals.explain(error, &self.queue));
        self.pauses.note(&outcome);
        match outcome {
            Err(error) => {
                self.messages = None;
                self.make_again(&error).await;
                Err(error.into())
            }
            outcome => Ok(outcome?),
        }
    }

    /// Creates the stream and the consumer if the error says that one of them is missing.
    async fn make_again(&self, error: &Error) {
        // A worker without the right to create them waits until another client has.
        if error.kind() == ErrorKind::NotSetUp && self.connection.setup(&self.queue).await.is_ok() {
            tracing::warn!(stream = self.queue.stream(), "the missing stream or consumer was created again");
        }
    }

    async fn receive(&mut self) -> Result<NatsDelivery, BoxError> {
        let (mut messages, runs) = match self.messages.take() {
            Some(messages) => messages,
            None => self.pull().await?,
        };
        let message = messages.next().await.ok_or("NATS ended the stream of messages")??;
        let run = runs.of(&message).await?;
        self.messages = Some((messages, runs));
        Ok(NatsDelivery::new(message, self.parking.clone(), run, self.connection.refusals.clone()))
    }

    async fn pull(&self) -> Result<(pull::Stream, Runs), BoxError> {
        self.connection.refusals.begin_to_read();
        let runs = Runs::open(self.connection.jetstream.clone(), &self.queue).await?;
        let (consumer, stream) = (self.queue.consumer_name(), self.queue.stream());
        let jetstream = &self.connection.jetstream;
        let consumer = jetstream.get_consumer_from_stream::<pull::Config, _, _>(consumer, stream).await?;
        let pull = consumer.stream().max_messages_per_batch(self.queue.batch()).expires(EXPIRES);
        Ok((pull.heartbeat(HEARTBEAT).messages().await?, runs))
    }
}
