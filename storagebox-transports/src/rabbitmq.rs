//! Queues of a RabbitMQ broker.

mod connect;
mod copies;
mod delivery;
mod parking;
mod publish;
mod queue;
mod source;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use storagebox_core::BoxError;

pub use delivery::RabbitDelivery;
pub use queue::RabbitQueue;

use connect::Access;
use publish::Publishers;

/// Queues of a RabbitMQ broker. Clones share the connection that sends. Each stream of deliveries has a connection of
/// its own, because the broker stops connections that send when it is short of memory or disk.
///
/// A queue is a quorum queue with a quorum queue of parked messages. Workers that read the queue share its messages:
/// each copy goes to one of them, and comes again when the worker's channel closes without an answer.
///
/// | here | in RabbitMQ |
/// |---|---|
/// | lease | the channel; and the broker's `consumer_timeout`, 30 minutes unless its operator says otherwise |
/// | [`Delivery::extend`] | nothing: a message belongs to its worker while the worker's channel is open |
/// | [`Settle::Ack`] | `basic.ack`, which the broker does not confirm |
/// | [`Settle::Retry`] | a copy in a queue of retries, then `basic.ack`; without a pause, `basic.reject` |
/// | [`Settle::Park`] | a copy in the queue of parked messages, then `basic.ack` |
/// | attempt | `x-delivery-count` and the retries of earlier copies, plus 1 |
/// | [`Delivery::lapsed`] | the `x-delivery-count` in the queue `NAME.alone` |
///
/// [`Delivery::extend`]: crate::Delivery::extend
/// [`Settle::Ack`]: crate::Settle::Ack
/// [`Settle::Retry`]: crate::Settle::Retry
/// [`Settle::Park`]: crate::Settle::Park
/// [`Delivery::lapsed`]: crate::Delivery::lapsed
///
/// Messages in a queue of retries expire into the queue itself. Messages that came back are moved to the queue
/// `NAME.alone`, which hands each stream one message at a time. There, `x-delivery-count` is the number of lone runs.
///
/// The broker cannot distinguish a run from a wait. If a worker ends while a message waits to run alone, the message
/// counts as if it had run. A message that is given back at once, as when a worker stops, is moved too.
///
/// A worker that holds a message for longer than `consumer_timeout`, because it waits or because its handler takes long,
/// loses its channel, and with it all messages that it fetched. The worker opens another channel. The messages come
/// again, which does no harm, because the processor changes an entity once per message.
///
/// A worker that cannot move a message to `NAME.alone`, as when the broker takes no messages because it is short of memory
/// or disk, keeps the message and all that it fetched, and tries again. Meanwhile it takes no other message.
///
/// A message's id is its `message_id`, or the header `storagebox-id` if that is there, because a `message_id` has at
/// most 255 bytes. Its token is the header `storagebox-token`.
///
/// Requires RabbitMQ 3.10 or later.
///
/// # Example
///
/// ```no_run
/// use storagebox_transports::{ConsumeOptions, RabbitQueue, RabbitQueues, consume};
///
/// # use storagebox_core::{BoxError, Key, Processor};
/// # use storagebox_transports::Received;
/// # async fn _example(payments: Processor, order_of: fn(&Received) -> Result<Key, BoxError>) -> Result<(), BoxError> {
/// let connection = RabbitQueues::connect("amqp://user:password@localhost:5672/%2f").await?;
/// let queue = RabbitQueue::new("orders").prefetch(4);
/// connection.setup(&queue).await?;
/// let consumed = consume(connection.deliveries(&queue), order_of, &payments, ConsumeOptions::default()).await;
/// println!("{consumed:?}");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct RabbitQueues {
    access: Access,
    publishers: Arc<Publishers>,
}

/// Shows no address, because addresses hold passwords.
impl fmt::Debug for RabbitQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RabbitQueues").finish_non_exhaustive()
    }
}

impl RabbitQueues {
    /// Connects to a broker: `amqp://USER:PASSWORD@HOST:PORT/VHOST`, with the virtual host percent-encoded. The keys
    /// are `channel_max`, `frame_max`, `heartbeat` (in seconds) and `tls=off`, with which a password is sent to another
    /// machine in clear text: the adapter has no TLS.
    ///
    /// The driver's own thread logs nothing, because it would log the password.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing was sent. Connect again.
    ///
    /// # Errors
    ///
    /// Returns a [`storagebox_core::Error`] in a box: `Misconfigured` if the address cannot be read, `Denied` if the
    /// broker refuses the login, and others if it cannot be reached. No message contains a value of the address.
    pub async fn connect(address: &str) -> Result<Self, BoxError> {
        let connection = Self { access: Access::new(address)?, publishers: Arc::default() };
        connection.check().await?;
        Ok(connection)
    }

    /// Sets how long to wait for an answer of the broker. Defaults to 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.access.timeout = timeout;
        self
    }

    /// Creates the queue, and its queues of parked messages, of retries and of messages that run alone, if they do not
    /// exist. Workers do the same if the queue is gone, and log a warning.
    ///
    /// Set up a queue some time before its first message: a broker that is killed within seconds after it has created a
    /// queue may find that queue empty (seen with RabbitMQ 3.10).
    ///
    /// # Cancel safety
    ///
    /// Call it again: it finds what it has created.
    ///
    /// # Errors
    ///
    /// Returns any error of the broker, such as a queue of this name with other arguments.
    pub async fn setup(&self, queue: &RabbitQueue) -> Result<(), BoxError> {
        let publisher = self.publisher().await?;
        for (name, arguments) in queue.all() {
            self.declare(&publisher, &name, arguments).await?;
        }
        self.give_back(publisher);
        Ok(())
    }

    /// Returns the messages of a queue while the stream is polled. The stream never ends: after an error it pauses,
    /// longer with each error in a row, and opens another connection.
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream loses nothing. Messages that were fetched but not returned come again at once. Outside a
    /// Tokio runtime, or if the broker does not answer, they come again when the last delivery of the stream is
    /// dropped.
    pub fn deliveries(
        &self,
        queue: &RabbitQueue,
    ) -> impl Stream<Item = Result<RabbitDelivery, BoxError>> + Send + use<> {
        source::deliveries(self.clone(), queue.clone())
    }

    /// Sends all parked messages of a queue to it again. Returns how many there were. Messages that are parked
    /// meanwhile stay.
    ///
    /// # Cancel safety
    ///
    /// Call it again: a message may be sent twice, and none is lost.
    ///
    /// # Errors
    ///
    /// Returns any error of the broker. Messages that were not sent again are still parked.
    pub async fn redrive(&self, queue: &RabbitQueue) -> Result<u64, BoxError> {
        parking::redrive(self, queue).await
    }
}
