//! Notes on the deliveries of a message. The server's count does not distinguish a delivery that was given back from a
//! delivery that was never settled. The note does.

use std::fmt;
use std::sync::Arc;

use async_nats::jetstream::Message;
use async_nats::jetstream::context::Context;
use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use storagebox_core::BoxError;
use tracing::debug;

use super::NatsQueue;

/// The last note that is stored about the deliveries of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Note {
    /// The delivery with this number was settled.
    Settled(u64),
    /// The message has begun to run alone this many times since its last settlement.
    Alone(u32),
}

#[derive(Clone)]
pub(super) struct Runs(Arc<Notes>);

struct Notes {
    context: Context,
    stream: Stream,
    subject: String,
}

/// One delivery of a message, and how often the message has run alone since its last settlement.
pub(super) struct Run {
    notes: Arc<Notes>,
    subject: String,
    delivery: u64,
    lapsed: Option<u32>,
}

impl Runs {
    pub(super) async fn open(context: Context, queue: &NatsQueue) -> Result<Self, BoxError> {
        let stream = context.get_stream(queue.runs_stream()).await?;
        Ok(Self(Arc::new(Notes { context, stream, subject: queue.runs_subject() })))
    }

    /// Reads the note on a message.
    pub(super) async fn of(&self, message: &Message) -> Result<Run, BoxError> {
        let info = message.info()?;
        let delivery = u64::try_from(info.delivered).unwrap_or(1);
        // The numbers begin again if the stream is created again.
        let published = info.published.unix_timestamp_nanos();
        let subject = format!("{}.{}-{published}", self.0.subject, info.stream_sequence);
        // Before the first delivery, there is no note.
        let lapsed = if delivery > 1 { lapsed(self.0.find(&subject).await?, delivery) } else { None };
        Ok(Run { notes: Arc::clone(&self.0), subject, delivery, lapsed })
    }
}

/// Returns how often the message has run alone since its last settlement, or `None` if the previous delivery was
/// settled.
fn lapsed(note: Option<Note>, delivery: u64) -> Option<u32> {
    match note {
        Some(Note::Settled(settled)) if settled.checked_add(1) == Some(delivery) => None,
        Some(Note::Alone(runs)) => Some(runs),
        _ => Some(0),
    }
}

impl Notes {
    async fn find(&self, subject: &str) -> Result<Option<Note>, BoxError> {
        match self.stream.get_last_raw_message_by_subject(subject).await {
            Ok(note) => Ok(read(&note.payload)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Run {
    pub(super) fn lapsed(&self) -> Option<u32> {
        self.lapsed
    }

    pub(super) async fn begin_alone(&self) -> Result<(), BoxError> {
        self.note(Note::Alone(self.lapsed.unwrap_or_default().saturating_add(1))).await
    }

    /// Records that the worker returns the message to the queue, so that the message need not run alone next time.
    pub(super) async fn is_given_back(&self) {
        // If that fails, the message runs alone at its next delivery, which does no harm.
        if let Err(error) = self.note(Note::Settled(self.delivery)).await {
            debug!(%error, "the note that a message was given back could not be written");
        }
    }

    /// Deletes the note, because the message is finished.
    pub(super) async fn is_over(&self) {
        // If that fails, the note expires later.
        if self.delivery > 1
            && let Err(error) = self.notes.stream.purge().filter(&self.subject).await
        {
            debug!(%error, "the note on a finished message could not be deleted; it expires later");
        }
    }

    async fn note(&self, note: Note) -> Result<(), BoxError> {
        self.notes.context.publish(self.subject.clone(), note.to_string().into()).await?.await?;
        Ok(())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settled(delivery) => write!(f, "settled {delivery}"),
            Self::Alone(runs) => write!(f, "alone {runs}"),
        }
    }
}

/// Parses a note. Returns `None` for a text that is not a note.
fn read(text: &[u8]) -> Option<Note> {
    match std::str::from_utf8(text).ok()?.split_once(' ')? {
        ("settled", delivery) => delivery.parse().ok().map(Note::Settled),
        ("alone", runs) => runs.parse().ok().map(Note::Alone),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_read_back_as_it_was_written() {
        for note in [Note::Settled(u64::MAX), Note::Alone(u32::MAX)] {
            assert_eq!(read(note.to_string().as_bytes()), Some(note));
        }
        for text in ["", "alone", "alone -1", "settled x", "other 1", "alone 4294967296"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn lapsed_is_none_only_if_the_previous_delivery_was_settled() {
        assert_eq!([lapsed(Some(Note::Settled(3)), 4), lapsed(Some(Note::Settled(2)), 4)], [None, Some(0)]);
        assert_eq!([lapsed(Some(Note::Alone(7)), 4), lapsed(None, 4)], [Some(7), Some(0)]);
    }
}
