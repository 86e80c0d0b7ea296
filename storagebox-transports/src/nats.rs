//! Queues in streams of a NATS server.

mod connect;
mod delivery;
mod dispatch;
mod headers;
mod parking;
mod queue;
mod runs;
mod source;

use std::fmt;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::{Context, ContextBuilder};
use futures_util::Stream;
use storagebox_core::BoxError;

use connect::Refusals;

pub use delivery::NatsDelivery;
pub use queue::NatsQueue;

/// How long a call waits for an answer of the server by default.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Queues in streams of a NATS server. Clones share the connection, which is restored automatically.
///
/// A queue is a stream with one durable pull consumer. Workers that share the consumer share the messages: each copy
/// goes to one of them, and comes again when its lease ends without an answer.
///
/// | here | in JetStream |
/// |---|---|
/// | lease | `ack_wait` of the consumer |
/// | [`Delivery::extend`] | `+WPI` (in progress), which begins another `ack_wait` |
/// | [`Settle::Ack`] | `+ACK`, with the server's confirmation |
/// | [`Settle::Retry`] | `-NAK` with a delay |
/// | [`Settle::Park`] | a copy in the stream of parked messages, then `+ACK` |
/// | attempt | the server's number of deliveries |
/// | [`Delivery::lapsed`] | a note in the stream `STREAM-runs` |
///
/// [`Delivery::extend`]: crate::Delivery::extend
/// [`Settle::Ack`]: crate::Settle::Ack
/// [`Settle::Retry`]: crate::Settle::Retry
/// [`Settle::Park`]: crate::Settle::Park
/// [`Delivery::lapsed`]: crate::Delivery::lapsed
///
/// The notes cost one more message for each retry and each lone run, and one read for each message that comes again.
///
/// A message's id and token are in the headers `storagebox-id` and `storagebox-token`, percent-encoded, because a
/// header cannot hold every text: other senders encode `%`, spaces, control characters and all that is not ASCII. The
/// header `Nats-Msg-Id` is not used: the server forgets it after the stream's `duplicate_window`.
///
/// # Example
///
/// ```no_run
/// use std::time::Duration;
///
/// use storagebox_transports::{ConsumeOptions, NatsQueue, NatsQueues, consume};
///
/// # use storagebox_core::{BoxError, Key, Processor};
/// # use storagebox_transports::Received;
/// # async fn _example(payments: Processor, order_of: fn(&Received) -> Result<Key, BoxError>) -> Result<(), BoxError> {
/// let connection = NatsQueues::connect("nats://user:password@localhost:4222").await?;
/// let queue = NatsQueue::new("orders").lease(Duration::from_secs(60))?.replicas(3);
/// connection.setup(&queue).await?;
/// let consumed = consume(connection.deliveries(&queue), order_of, &payments, ConsumeOptions::default()).await;
/// println!("{consumed:?}");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct NatsQueues {
    jetstream: Context,
    refusals: Refusals,
}

/// Shows no address, because addresses hold passwords.
impl fmt::Debug for NatsQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsQueues").finish_non_exhaustive()
    }
}

impl NatsQueues {
    /// Connects to a server: `nats://USER:PASSWORD@HOST:PORT`, `nats://TOKEN@HOST:PORT`, or `tls://` for encryption.
    /// Commas separate several addresses of one cluster, which have the same login. A login is sent to another machine
    /// in clear text only with `?tls=off`.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing was sent. Connect again.
    ///
    /// # Errors
    ///
    /// Returns a [`storagebox_core::Error`] in a box: `Misconfigured` if an address cannot be read, `Denied` if the
    /// server refuses the login, and `Unavailable` if it cannot be reached. No message contains a value of the address.
    pub async fn connect(addresses: &str) -> Result<Self, BoxError> {
        let (client, refusals) = connect::connect(addresses).await?;
        Ok(Self { refusals, ..Self::from_client(client) })
    }

    /// Uses a connected client, with the login and the certificates of your choice.
    ///
    /// The driver reports what the server refuses to the event callback of the client only. So a loop over this connection
    /// does not end when a right is missing or a later login is refused: it logs these errors and tries again.
    pub fn from_client(client: Client) -> Self {
        Self { jetstream: context(client, TIMEOUT), refusals: Refusals::default() }
    }

    /// Sets how long to wait for an answer of the server. Defaults to 5 seconds.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { jetstream: context(self.jetstream.client(), timeout), ..self }
    }

    /// Creates the streams and the consumer of a queue if they do not exist. Sets the lease and the limits of a
    /// consumer that exists; streams that exist stay as they are. Workers do the same if the streams or the consumer
    /// are gone, and log a warning.
    ///
    /// # Cancel safety
    ///
    /// Call it again: it finds what it has created.
    ///
    /// # Errors
    ///
    /// Returns any error of the server, such as subjects that belong to another stream.
    pub async fn setup(&self, queue: &NatsQueue) -> Result<(), BoxError> {
        self.jetstream.get_or_create_stream(queue.stream_config()).await?;
        self.jetstream.get_or_create_stream(queue.parked_config()).await?;
        self.jetstream.get_or_create_stream(queue.runs_config()).await?;
        self.jetstream.create_consumer_on_stream(queue.consumer_config(), queue.stream()).await?;
        Ok(())
    }

    /// Returns the messages of a queue while the stream is polled. The stream never ends: after an error it pauses,
    /// longer with each error in a row, and tries again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream loses nothing. Messages that were fetched but not returned come again when their lease ends.
    /// So may a message that another worker gives back right after that (seen with NATS 2.9.10).
    pub fn deliveries(&self, queue: &NatsQueue) -> impl Stream<Item = Result<NatsDelivery, BoxError>> + Send + use<> {
        source::deliveries(self.clone(), queue.clone())
    }

    /// Sends all parked messages of a queue again, each to its original subject. Returns how many there were. Messages
    /// that are parked meanwhile stay.
    ///
    /// # Cancel safety
    ///
    /// Call it again: a message may be sent twice, and none is lost.
    ///
    /// # Errors
    ///
    /// Returns any error of the server. Messages that were not sent again are still parked.
    pub async fn redrive(&self, queue: &NatsQueue) -> Result<u64, BoxError> {
        parking::redrive(&self.jetstream, queue).await
    }
}

fn context(client: Client, timeout: Duration) -> Context {
    ContextBuilder::new().timeout(timeout).ack_timeout(timeout).build(client)
}
