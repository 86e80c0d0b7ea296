//! Queues in streams of a Redis server.

mod connection;
mod delivery;
mod reader;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use redis::{Script, cmd, pipe};
use storagebox_core::{BoxError, Destination, Dispatcher, Outgoing, Result, checked_duration};

use crate::reader::deliveries;
use crate::wire::{BODY, ID, TOKEN};
use connection::Connection;
use reader::Reader;

pub use delivery::RedisDelivery;

static REDRIVE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../lua/redis_streams/redrive.lua")));

/// Queues in streams of a Redis server, version 7 or later. Clones share a connection.
///
/// A queue is named by the destination of its messages. It is the stream of that name, behind the
/// [prefix](Self::prefix), with one consumer group. No other group may read the stream: a message that is acknowledged is
/// deleted. Two more keys belong to the queue: the stream `<queue>:parked`, and the sorted set `<queue>:pauses` of
/// messages that come again later. All three must be on one node.
///
/// A message's lease is its idle time in the group. The receipt of a delivery is the number of times that the message
/// was handed out, so a late call of an earlier worker changes nothing.
///
/// What is sent is as durable as the server is. If the server loses a message that it accepted, nothing sends it again,
/// and its token stays.
#[derive(Clone, Debug)]
pub struct RedisQueues {
    connection: Arc<Connection>,
    settings: Settings,
}

#[derive(Clone, Debug)]
struct Settings {
    prefix: String,
    group: String,
    consumer: String,
    lease: Duration,
}

impl RedisQueues {
    /// Opens the queues of a server by its URL, `redis://` or `rediss://`. The first call connects.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read. The message never contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        let name = || "storagebox".to_owned();
        let (prefix, lease) = (String::new(), Duration::from_secs(30));
        let settings = Settings { prefix, group: name(), consumer: name(), lease };
        Ok(Self { connection: Arc::new(Connection::new(url)?), settings })
    }

    /// Sets what precedes the names of the queues in their keys. Defaults to nothing.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Sets the name of the consumer group. Defaults to `storagebox`.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.settings.group = group.into();
        self
    }

    /// Sets the name of the consumer, which shows who holds a message. Defaults to `storagebox`; workers may share it.
    /// The server keeps each name for ever, and deleting one deletes its messages from the group, so use few.
    #[must_use]
    pub fn consumer(mut self, consumer: impl Into<String>) -> Self {
        self.settings.consumer = consumer.into();
        self
    }

    /// Sets for how long a message is handed out. Defaults to 30 seconds. All workers of a queue use the same lease, and
    /// an extension is always by this lease.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` for a lease under 1 ms or over 100 years.
    pub fn lease(mut self, lease: Duration) -> Result<Self> {
        self.settings.lease = checked_duration("lease", lease)?;
        Ok(self)
    }

    /// Creates the group of a queue, and the stream, if they do not exist. The group begins with the oldest message.
    ///
    /// # Cancel safety
    ///
    /// Safe. Call it again.
    ///
    /// # Errors
    ///
    /// Errors of the server.
    pub async fn setup(&self, queue: &Destination) -> Result<()> {
        let mut create = cmd("XGROUP");
        create.arg("CREATE").arg(self.keys(queue).stream).arg(&self.settings.group).arg("0").arg("MKSTREAM");
        match self.connection.query::<()>(&create).await {
            Err(error) if error.code() == Some("BUSYGROUP") => Ok(()),
            made => made.map_err(connection::error),
        }
    }

    /// Returns the messages of a queue, one read per message. For more reads at once, merge several of these streams
    /// with [`select_all`](futures_util::stream::select_all()).
    ///
    /// It is polled inside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// If the stream is dropped while it reads, the message that it reads is given back.
    ///
    /// # Errors
    ///
    /// Errors of the server are items of the stream, which goes on after them.
    pub fn deliveries(
        &self,
        queue: &Destination,
    ) -> impl Stream<Item = Result<RedisDelivery, BoxError>> + Send + 'static {
        deliveries(Reader::new(Arc::clone(&self.connection), self.settings.clone(), self.keys(queue)))
    }

    /// Returns how many messages of a queue are parked.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// Errors of the server.
    pub async fn parked(&self, queue: &Destination) -> Result<u64> {
        let parked = self.connection.query(cmd("XLEN").arg(self.keys(queue).parked)).await;
        parked.map_err(connection::error)
    }

    /// Sends the oldest parked messages again, up to `max` and to 1000, with their ids and tokens. Returns how many.
    ///
    /// # Cancel safety
    ///
    /// Each message is sent, or still parked.
    ///
    /// # Errors
    ///
    /// Errors of the server.
    pub async fn redrive(&self, queue: &Destination, max: u32) -> Result<u64> {
        let keys = self.keys(queue);
        let mut call = REDRIVE.key(keys.stream);
        self.connection.invoke(call.key(keys.parked).arg(max.min(1000))).await
    }

    fn keys(&self, queue: &Destination) -> Keys {
        let stream = format!("{}{queue}", self.settings.prefix);
        Keys { pauses: format!("{stream}:pauses"), parked: format!("{stream}:parked"), stream }
    }
}

/// The keys of a queue.
#[derive(Clone, Debug)]
struct Keys {
    stream: String,
    pauses: String,
    parked: String,
}

/// Sends each message to the queue that its destination names. The queue need not be set up.
#[async_trait]
impl Dispatcher for RedisQueues {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        let mut add = pipe();
        for Outgoing { id, token, destination, body } in messages {
            let add = add.cmd("XADD").arg(self.keys(destination).stream).arg("*").arg(ID).arg(id.as_str());
            add.arg(TOKEN).arg(token.as_str()).arg(BODY).arg(body.as_bytes()).ignore();
        }
        Ok(self.connection.query_all(&add).await?)
    }
}
