//! Sends messages.

use async_nats::jetstream::Context;
use async_nats::jetstream::context::{PublishAckFuture, PublishError};
use async_nats::jetstream::message::PublishMessage;
use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::{BoxError, Dispatcher, Outgoing};

use super::{NatsQueues, headers};

/// The maximum number of messages of one call that wait for their confirmation.
const AT_ONCE: usize = 256;

/// Publishes each message on the subject that its destination names, and waits until a stream has stored it. A subject
/// that belongs to no stream is an error.
#[async_trait]
impl Dispatcher for NatsQueues {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        // The driver limits how many messages wait for their confirmation. `try_buffered` takes confirmations while the
        // next message waits, so that callers do not wait for each other for ever.
        let sends: Vec<_> = messages.iter().map(|message| send(self.jetstream.clone(), message.clone())).collect();
        let sent = stream::iter(sends).then(|send| send).map_ok(IntoFuture::into_future);
        sent.try_buffered(AT_ONCE).try_for_each(async |_| Ok(())).await?;
        Ok(())
    }
}

async fn send(jetstream: Context, message: Outgoing) -> Result<PublishAckFuture, PublishError> {
    let headers = headers::of(&message);
    let copy = PublishMessage::build().payload(message.body.into_bytes()).headers(headers);
    jetstream.send_publish(message.destination.as_str().to_owned(), copy).await
}
