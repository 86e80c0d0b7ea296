//! A queue: its names and its limits.

use std::time::Duration;

use async_nats::jetstream::{consumer, stream};
use storagebox_core::{Result, checked_duration};

const LEASE: Duration = Duration::from_secs(30);
/// No limit. The server counts messages that wait for their retry, and at a limit it hands out no other message.
const UNSETTLED: i64 = -1;
const PREFETCH: u32 = 16;
/// How long the note on a message is kept, which is much longer than a lease.
const NOTES_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// A stream with its durable consumer, the stream of its parked messages, and a stream of notes on messages that come
/// again. The stream of notes is named `STREAM-runs`, takes the subjects `storagebox.runs.STREAM.*`, and keeps a note
/// for at most seven days.
///
/// The names of streams and consumers consist of letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsQueue {
    stream: String,
    subjects: Vec<String>,
    consumer: String,
    parked_stream: String,
    parked_subject: String,
    lease: Duration,
    max_unsettled: i64,
    prefetch: u32,
    replicas: usize,
}

impl NatsQueue {
    /// Creates a queue whose stream, consumer and only subject have this name. Messages are parked on the subject
    /// `NAME.parked`, in the stream `NAME-parked`.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            subjects: vec![name.clone()],
            consumer: name.clone(),
            parked_stream: format!("{name}-parked"),
            parked_subject: format!("{name}.parked"),
            stream: name,
            lease: LEASE,
            max_unsettled: UNSETTLED,
            prefetch: PREFETCH,
            replicas: 1,
        }
    }

    /// Sets the subjects of the stream, which may have wildcards. They may not match the subject of parked messages.
    #[must_use]
    pub fn subjects<S: Into<String>>(mut self, subjects: impl IntoIterator<Item = S>) -> Self {
        self.subjects = subjects.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the name of the durable consumer.
    #[must_use]
    pub fn consumer(mut self, name: impl Into<String>) -> Self {
        self.consumer = name.into();
        self
    }

    /// Sets the stream and the subject of parked messages.
    #[must_use]
    pub fn parked(mut self, stream: impl Into<String>, subject: impl Into<String>) -> Self {
        (self.parked_stream, self.parked_subject) = (stream.into(), subject.into());
        self
    }

    /// Sets how long a message belongs to a worker before it comes again. Defaults to 30 seconds. Workers extend their
    /// leases by this time, whatever time they ask for.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` for a lease under 1 ms or over 100 years.
    pub fn lease(mut self, lease: Duration) -> Result<Self> {
        self.lease = checked_duration("lease", lease)?;
        Ok(self)
    }

    /// Sets how many messages may be unsettled at once, in all workers together. Defaults to no limit. Zero counts as one.
    ///
    /// The server counts messages that wait for their retry too: if so many pause, the workers get no other message.
    #[must_use]
    pub fn max_unsettled(mut self, most: u32) -> Self {
        self.max_unsettled = most.max(1).into();
        self
    }

    /// Sets how many messages a worker fetches at once. Defaults to 16. Their leases begin when they are fetched, so
    /// choose a small number if handlers take long. A worker that stops keeps its fetched messages until their leases
    /// end.
    #[must_use]
    pub fn prefetch(mut self, most: u32) -> Self {
        self.prefetch = most.max(1);
        self
    }

    /// Sets the number of replicas of the streams in a cluster, if the streams are created. Defaults to 1.
    #[must_use]
    pub fn replicas(mut self, replicas: usize) -> Self {
        self.replicas = replicas;
        self
    }

    pub(super) fn stream(&self) -> &str {
        &self.stream
    }

    pub(super) fn consumer_name(&self) -> &str {
        &self.consumer
    }

    pub(super) fn parked_stream(&self) -> &str {
        &self.parked_stream
    }

    pub(super) fn parked_subject(&self) -> &str {
        &self.parked_subject
    }

    /// Returns the ends of the subjects on which a worker reads, with the quotation mark that follows in a refusal.
    pub(super) fn reads(&self) -> [String; 4] {
        let (stream, consumer, runs) = (&self.stream, &self.consumer, self.runs_stream());
        [
            format!(".CONSUMER.INFO.{stream}.{consumer}\""),
            format!(".CONSUMER.MSG.NEXT.{stream}.{consumer}\""),
            format!(".STREAM.INFO.{runs}\""),
            format!(".STREAM.MSG.GET.{runs}\""),
        ]
    }

    pub(super) fn runs_stream(&self) -> String {
        format!("{}-runs", self.stream)
    }

    /// Returns the prefix of the subjects of the notes on deliveries.
    pub(super) fn runs_subject(&self) -> String {
        format!("storagebox.runs.{}", self.stream)
    }

    /// Returns the subject for a parked message that has lost its original subject.
    pub(super) fn first_subject(&self) -> &str {
        self.subjects.first().unwrap_or(&self.stream)
    }

    pub(super) fn batch(&self) -> usize {
        usize::try_from(self.prefetch).unwrap_or(usize::MAX)
    }

    /// Returns the settings of the queue's stream, which deletes acknowledged messages.
    pub(super) fn stream_config(&self) -> stream::Config {
        stream::Config {
            name: self.stream.clone(),
            subjects: self.subjects.clone(),
            retention: stream::RetentionPolicy::WorkQueue,
            num_replicas: self.replicas,
            ..Default::default()
        }
    }

    /// Returns the settings of the stream of parked messages, which keeps messages until they are sent again or
    /// deleted.
    pub(super) fn parked_config(&self) -> stream::Config {
        stream::Config {
            name: self.parked_stream.clone(),
            subjects: vec![self.parked_subject.clone()],
            num_replicas: self.replicas,
            ..Default::default()
        }
    }

    /// Returns the settings of the stream of notes, which keeps only the last note on each message.
    pub(super) fn runs_config(&self) -> stream::Config {
        stream::Config {
            name: self.runs_stream(),
            subjects: vec![format!("{}.*", self.runs_subject())],
            max_messages_per_subject: 1,
            max_age: NOTES_AGE,
            num_replicas: self.replicas,
            ..Default::default()
        }
    }

    pub(super) fn consumer_config(&self) -> consumer::pull::Config {
        consumer::pull::Config {
            durable_name: Some(self.consumer.clone()),
            ack_policy: consumer::AckPolicy::Explicit,
            ack_wait: self.lease,
            max_ack_pending: self.max_unsettled,
            ..Default::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_derive_from_the_queue_name() {
        let queue = NatsQueue::new("orders");
        assert_eq!((queue.stream(), queue.consumer_name(), queue.first_subject()), ("orders", "orders", "orders"));
        assert_eq!((queue.parked_stream(), queue.parked_subject()), ("orders-parked", "orders.parked"));
        assert_eq!(
            (queue.runs_stream().as_str(), &queue.runs_config().subjects[0][..]),
            ("orders-runs", "storagebox.runs.orders.*")
        );
    }

    #[test]
    fn nats_configuration_has_the_values_of_the_builder() {
        let queue = NatsQueue::new("orders").subjects(["orders.a", "orders.b"]).consumer("worker").replicas(3);
        let queue =
            queue.lease(Duration::from_secs(7)).unwrap().max_unsettled(5).prefetch(0).parked("dead", "dead.orders");
        let (consumer, stream) = (queue.consumer_config(), queue.stream_config());
        assert_eq!((consumer.ack_wait, consumer.max_ack_pending), (Duration::from_secs(7), 5));
        assert_eq!(consumer.durable_name.as_deref(), Some("worker"));
        assert_eq!((stream.subjects.len(), stream.num_replicas, queue.batch()), (2, 3, 1));
        assert_eq!(queue.parked_config().subjects, ["dead.orders"]);
    }

    /// The server reads a zero as its default.
    #[test]
    fn no_option_of_a_consumer_is_zero() {
        let queue = NatsQueue::new("orders");
        assert!(queue.clone().lease(Duration::ZERO).is_err());
        assert_eq!(queue.max_unsettled(0).consumer_config().max_ack_pending, 1);
    }
}
