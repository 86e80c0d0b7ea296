//! Messages that are set aside, and sent again.

use async_nats::jetstream::Message;
use async_nats::jetstream::context::Context;
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use storagebox_core::BoxError;

use super::NatsQueue;
use super::headers::{self, SUBJECT};

/// Where a queue's messages are parked.
#[derive(Clone, Debug)]
pub(super) struct Place {
    stream: String,
    subject: String,
}

impl Place {
    pub(super) fn of(queue: &NatsQueue) -> Self {
        Self { stream: queue.parked_stream().to_owned(), subject: queue.parked_subject().to_owned() }
    }
}

/// Sends a copy to the place, and waits until it is stored. Another stream that takes the subject is refused.
pub(super) async fn park(message: &Message, place: &Place) -> Result<(), BoxError> {
    let mut headers = headers::copied(message.headers.as_ref());
    headers.insert(SUBJECT, message.subject.as_str());
    let copy = PublishMessage::build().payload(message.payload.clone()).headers(headers);
    let copy = copy.expected_stream(&place.stream);
    message.context.send_publish(place.subject.clone(), copy).await?.await?;
    Ok(())
}

/// Sends again what is parked now, the oldest first.
pub(super) async fn redrive(jetstream: &Context, queue: &NatsQueue) -> Result<u64, BoxError> {
    let parked = jetstream.get_stream(queue.parked_stream()).await?;
    let (mut sequence, last, mut count) = (1, parked.cached_info().state.last_sequence, 0);
    while let Some(message) = first(&parked, queue.parked_subject(), sequence).await?.filter(|it| it.sequence <= last) {
        send_again(jetstream, &message, queue.first_subject()).await?;
        parked.delete_message(message.sequence).await?;
        (sequence, count) = (message.sequence + 1, count + 1);
    }
    Ok(count)
}

/// The first message from this place in the stream on.
async fn first(parked: &Stream, subject: &str, sequence: u64) -> Result<Option<StreamMessage>, BoxError> {
    match parked.get_first_raw_message_by_subject(subject, sequence).await {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn send_again(jetstream: &Context, message: &StreamMessage, otherwise: &str) -> Result<(), BoxError> {
    let subject = message.headers.get(SUBJECT).map_or(otherwise, |subject| subject.as_str()).to_owned();
    let headers = headers::copied(Some(&message.headers));
    let copy = PublishMessage::build().payload(message.payload.clone()).headers(headers);
    jetstream.send_publish(subject, copy).await?.await?;
    Ok(())
}
