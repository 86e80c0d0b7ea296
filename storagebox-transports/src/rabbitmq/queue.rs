//! A queue: its names, its limits, and the arguments of its declaration.

use std::time::Duration;

use lapin::types::{AMQPValue, FieldTable};

const PREFETCH: u16 = 16;
const DELIVERIES: u32 = 100;

/// The default pauses of retries, in seconds.
const PAUSES: [u64; 6] = [1, 10, 60, 600, 3_600, 86_400];

/// A quorum queue, and the quorum queue of its parked messages.
///
/// The names of queues have at most 255 bytes. The queue of parked messages is `NAME.parked`; retries wait in
/// `NAME.retry.MILLISECONDS`, a quorum queue for each [pause](Self::pauses); and messages that came back wait in
/// `NAME.alone`, a quorum queue too, until they run alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RabbitQueue {
    name: String,
    prefetch: u16,
    delivery_limit: u32,
    pauses: Vec<Duration>,
}

impl RabbitQueue {
    /// Creates a queue of this name, in the connection's virtual host.
    pub fn new(name: impl Into<String>) -> Self {
        let pauses = PAUSES.map(Duration::from_secs).to_vec();
        Self { name: name.into(), prefetch: PREFETCH, delivery_limit: DELIVERIES, pauses }
    }

    /// Sets how many unsettled messages each stream of deliveries may have, in addition to a message that runs alone.
    /// Defaults to 16.
    #[must_use]
    pub fn prefetch(mut self, most: u16) -> Self {
        self.prefetch = most.max(1);
        self
    }

    /// Sets how often a copy may come back from workers that crash, drop it, retry it at once, or stop after they have
    /// fetched it, before the broker parks it, whatever the [loop](crate::ConsumeOptions::park_after) does. Defaults to
    /// 100. The limit applies when the queue is created; a queue that exists must have the same limit.
    #[must_use]
    pub fn delivery_limit(mut self, most: u32) -> Self {
        self.delivery_limit = most;
        self
    }

    /// Sets the pauses that retries can have. Defaults to 1 second, 10 seconds, 1 minute, 10 minutes, 1 hour and 1 day.
    /// A retry waits for the shortest pause that is at least as long as the requested one, or else for the longest.
    /// Without any pause, a retry comes at once.
    #[must_use]
    pub fn pauses(mut self, pauses: impl IntoIterator<Item = Duration>) -> Self {
        self.pauses = pauses.into_iter().collect();
        self.pauses.sort_unstable();
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn parked_name(&self) -> String {
        format!("{}.parked", self.name)
    }

    pub(super) fn alone_name(&self) -> String {
        format!("{}.alone", self.name)
    }

    pub(super) fn fetched(&self) -> u16 {
        self.prefetch
    }

    /// Returns the arguments of a queue that parks a message if it comes back more than `delivery_limit` times.
    fn arguments(&self, delivery_limit: u32) -> FieldTable {
        let mut arguments = dead_lettering_to(&self.parked_name());
        arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(delivery_limit.into()));
        arguments
    }

    pub(super) fn all(&self) -> Vec<(String, FieldTable)> {
        // The broker expires the messages of a queue in order, so each pause has a queue of its own.
        let waiting = self.pauses.iter().map(|pause| (self.waiting_name(*pause), self.waiting_arguments(*pause)));
        // A message that waits to run alone has already been returned to the queue once.
        let alone = self.arguments(self.delivery_limit.saturating_sub(1));
        let first = [(self.name.clone(), self.arguments(self.delivery_limit)), (self.alone_name(), alone)];
        let first = first.into_iter().chain([(self.parked_name(), plain())]);
        first.chain(waiting).collect()
    }

    /// Returns the retry queue with the shortest pause of at least `pause`, or else with the longest pause. Returns
    /// `None` if there is no retry queue.
    pub(super) fn waiting(&self, pause: Duration) -> Option<String> {
        let fitting = self.pauses.iter().find(|fitting| **fitting >= pause);
        fitting.or(self.pauses.last()).map(|pause| self.waiting_name(*pause))
    }

    fn waiting_name(&self, pause: Duration) -> String {
        format!("{}.retry.{}", self.name, milliseconds(pause))
    }

    fn waiting_arguments(&self, pause: Duration) -> FieldTable {
        let mut arguments = dead_lettering_to(&self.name);
        arguments.insert("x-message-ttl".into(), AMQPValue::LongLongInt(milliseconds(pause)));
        arguments
    }
}

fn plain() -> FieldTable {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), text("quorum"));
    arguments
}

/// Returns the arguments of a quorum queue that moves its dead letters to the queue `name`.
fn dead_lettering_to(name: &str) -> FieldTable {
    // The queue keeps a dead letter until `name` has stored it.
    let mut arguments = plain();
    arguments.insert("x-dead-letter-exchange".into(), text(""));
    arguments.insert("x-dead-letter-routing-key".into(), text(name));
    arguments.insert("x-dead-letter-strategy".into(), text("at-least-once"));
    arguments.insert("x-overflow".into(), text("reject-publish"));
    arguments
}

fn text(text: &str) -> AMQPValue {
    AMQPValue::LongString(text.into())
}

/// Converts a pause to milliseconds, rounded up.
fn milliseconds(pause: Duration) -> i64 {
    i64::try_from(pause.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_waits_for_the_shortest_pause_that_is_long_enough() {
        let queue = RabbitQueue::new("orders");
        let waiting = |pause| queue.waiting(pause).unwrap();
        assert_eq!(waiting(Duration::from_nanos(1)), "orders.retry.1000");
        assert_eq!(waiting(Duration::from_secs(1)), "orders.retry.1000");
        assert_eq!(waiting(Duration::from_millis(1_001)), "orders.retry.10000");
        assert_eq!(waiting(Duration::MAX), "orders.retry.86400000");
        assert_eq!((queue.all().len(), queue.pauses([]).waiting(Duration::MAX)), (9, None));
        let queue = RabbitQueue::new("orders").pauses([Duration::from_secs(2), Duration::from_nanos(1)]);
        assert_eq!(queue.waiting(Duration::ZERO).unwrap(), "orders.retry.1");
    }

    #[test]
    fn all_names_derive_from_the_queue_name() {
        let queue = RabbitQueue::new("orders").prefetch(0).delivery_limit(7);
        assert_eq!((queue.name(), queue.parked_name().as_str(), queue.fetched()), ("orders", "orders.parked", 1));
        assert_eq!(queue.all()[1].0, "orders.alone");
        let arguments = queue.arguments(7);
        assert_eq!(arguments.inner().get("x-dead-letter-routing-key"), Some(&text("orders.parked")));
        assert_eq!(arguments.inner().get("x-delivery-limit"), Some(&AMQPValue::LongLongInt(7)));
    }
}
