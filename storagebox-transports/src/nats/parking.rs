//! Parks messages, and sends them again.

use async_nats::HeaderMap;
use async_nats::header::NATS_EXPECTED_STREAM;
use async_nats::jetstream::Message;
use async_nats::jetstream::context::{Context, PublishError, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{Config, RawMessageErrorKind, Stream};
use storagebox_core::BoxError;

use super::NatsQueue;
use super::headers::{self, SUBJECT};

#[derive(Clone, Debug)]
pub(super) struct Parking {
    stream: Config,
    subject: String,
}

impl Parking {
    pub(super) fn of(queue: &NatsQueue) -> Self {
        Self { stream: queue.parked_config(), subject: queue.parked_subject().to_owned() }
    }
}

/// Sends a copy to the stream of parked messages, and waits until the copy is stored. Creates the stream if necessary.
pub(super) async fn park(message: &Message, parking: &Parking) -> Result<(), BoxError> {
    match park_as_it_fits(message, parking).await {
        Err(error) if error.kind() == PublishErrorKind::StreamNotFound => {
            message.context.get_or_create_stream(parking.stream.clone()).await?;
            tracing::warn!(
                stream = parking.stream.name,
                "the stream of the parked messages was missing and was created again"
            );
            Ok(park_as_it_fits(message, parking).await?)
        }
        parked => Ok(parked?),
    }
}

/// Parks a copy, with its original subject in a header if the header fits.
async fn park_as_it_fits(message: &Message, parking: &Parking) -> Result<(), PublishError> {
    // A copy without the header is later sent to the first subject of the queue.
    let bare = headers::copied(message.headers.as_ref());
    let mut headers = bare.clone();
    headers.insert(SUBJECT, message.subject.as_str());
    headers.insert(NATS_EXPECTED_STREAM, parking.stream.name.as_str());
    match send(message, parking, headers).await {
        Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => send(message, parking, bare).await,
        sent => sent,
    }
}

/// Sends a copy to the stream of parked messages. Returns an error if another stream stored the copy.
async fn send(message: &Message, parking: &Parking, headers: HeaderMap) -> Result<(), PublishError> {
    let copy = with(headers, PublishMessage::build().payload(message.payload.clone()));
    let stored = message.context.send_publish(parking.subject.clone(), copy).await?.await?;
    match stored.stream == parking.stream.name {
        true => Ok(()),
        false => Err(PublishError::with_source(PublishErrorKind::Other, "another stream stored the parked message")),
    }
}

fn with(headers: HeaderMap, copy: PublishMessage) -> PublishMessage {
    // An empty set of headers takes room too.
    if headers.is_empty() { copy } else { copy.headers(headers) }
}

/// Sends all messages that are parked now back to the queue, the oldest first. Returns their number.
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

/// Returns the first message of the stream whose sequence number is at least `sequence`.
async fn first(parked: &Stream, subject: &str, sequence: u64) -> Result<Option<StreamMessage>, BoxError> {
    match parked.get_first_raw_message_by_subject(subject, sequence).await {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn send_again(jetstream: &Context, message: &StreamMessage, otherwise: &str) -> Result<(), BoxError> {
    let subject = message.headers.get(SUBJECT).map_or(otherwise, |subject| subject.as_str()).to_owned();
    let copy = with(headers::copied(Some(&message.headers)), PublishMessage::build().payload(message.payload.clone()));
    jetstream.send_publish(subject, copy).await?.await?;
    Ok(())
}
