//! Sends messages.

use async_nats::jetstream::message::PublishMessage;
use async_trait::async_trait;
use storagebox_core::{BoxError, Dispatcher, Outgoing};

use super::{NatsQueues, headers};

/// Publishes each message on the subject that its destination names, and waits until a stream has stored it. A subject
/// that belongs to no stream is an error.
#[async_trait]
impl Dispatcher for NatsQueues {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        let mut acknowledgements = Vec::with_capacity(messages.len());
        for message in messages {
            let copy = PublishMessage::build().payload(message.body.clone().into_bytes()).headers(headers::of(message));
            acknowledgements.push(self.jetstream.send_publish(message.destination.as_str().to_owned(), copy).await?);
        }
        for acknowledgement in acknowledgements {
            acknowledgement.await?;
        }
        Ok(())
    }
}
