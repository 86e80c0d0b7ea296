//! Queues in streams of a Redis server.

mod answers;
mod delivery;
mod reader;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use redis::{Script, cmd, pipe};
use storagebox_core::{BoxError, Destination, Dispatcher, Outgoing, Result, checked_duration};
use storagebox_redis::RedisServer;

use crate::reader::deliveries;
use crate::wire::{BODY, ID, TOKEN};
use reader::Reader;

pub use delivery::RedisDelivery;

static REDRIVE: LazyLock<Script> = LazyLock::new(|| script(include_str!("../lua/redis_streams/redrive.lua")));

/// Returns the script `text`, preceded by the function `demand`, which checks the user's rights.
fn script(text: &str) -> Script {
    Script::new(&format!("{}{text}", include_str!("../lua/redis_streams/rights.lua")))
}

/// Queues in streams of a Redis server, version 7 or later. Clones share a connection.
///
/// A queue is named by the destination of its messages. It is the stream of that name, after the
/// [prefix](Self::prefix), with one consumer group. No other group may read the stream, because an acknowledged message
/// is deleted. Three more keys belong to the queue: the stream `<queue>:parked`, the sorted set `<queue>:pauses` of
/// messages that come again later, and the hash `<queue>:runs` of messages that run alone. All must be on one node.
///
/// A message's lease is its idle time in the group. The receipt of a delivery is the number of times that the message
/// was handed out, so a late call of an earlier worker changes nothing.
///
/// Messages whose pause is over and new messages are read in turns, while there are both. Messages whose lease has ended
/// are looked for about once a second, more often with a lease under four seconds, and come first.
///
/// A sent message is as durable as the server. If the server loses a message that it accepted, the message is not sent
/// again, and its token stays.
#[derive(Clone, Debug)]
pub struct RedisQueues {
    server: Arc<RedisServer>,
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
    /// Opens the queues of a server by the URL of a store, which
    /// [`RedisServer`](storagebox_redis::RedisServer::connect) reads. The first call connects.
    ///
    /// With `prefix=shop` the keys of the queues begin with `shop:`. With `wait`, a message counts as sent once this
    /// number of replicas has it. [`setup`](Self::setup) checks the demands of `require_aof` and `eviction`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL or a file that it names cannot be read, or a query key is unknown, and
    /// `Unsupported` for a cluster. The message never contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        let (server, name) = (RedisServer::connect(url)?, || "storagebox".to_owned());
        let prefix = server.prefix().map_or_else(String::new, |prefix| format!("{prefix}:"));
        let settings = Settings { prefix, group: name(), consumer: name(), lease: Duration::from_secs(30) };
        Ok(Self { server: Arc::new(server), settings })
    }

    /// Sets the beginning of the keys, before the names of the queues. Defaults to the `prefix` of the URL and a colon,
    /// or else to nothing.
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

    /// Sets how long a message is handed out. Defaults to 30 seconds. All workers of a queue use the same lease, and an
    /// extension is always by this lease.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` for a lease under 1 ms or over 100 years.
    pub fn lease(mut self, lease: Duration) -> Result<Self> {
        self.settings.lease = checked_duration("lease", lease)?;
        Ok(self)
    }

    /// Creates the group of a queue, and the stream, if they do not exist. The group begins with the oldest message.
    /// Workers create them again if they are gone, with a warning.
    ///
    /// # Cancel safety
    ///
    /// Safe. Call it again.
    ///
    /// # Errors
    ///
    /// Errors of the server, and `Unsupported` for a server that is not what the URL asks for.
    pub async fn setup(&self, queue: &Destination) -> Result<()> {
        self.server.check().await?;
        make_group(&self.server, &self.settings, &self.keys(queue)).await
    }

    /// Returns the messages of a queue, one read per message. For more reads at once, merge several of these streams
    /// with [`select_all`](futures_util::stream::select_all()).
    ///
    /// Poll the stream inside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// If the stream is dropped while it reads, the message that it reads is given back.
    ///
    /// # Errors
    ///
    /// Errors of the server are items of the stream, which continues after them. If the group is gone, it is created
    /// again.
    pub fn deliveries(
        &self,
        queue: &Destination,
    ) -> impl Stream<Item = Result<RedisDelivery, BoxError>> + Send + 'static {
        deliveries(Reader::new(Arc::clone(&self.server), self.settings.clone(), self.keys(queue)))
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
        let parked = self.keys(queue).parked;
        self.server.command(&parked, cmd("XLEN").arg(&parked)).await
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
        let Keys { stream, parked, .. } = self.keys(queue);
        let mut call = REDRIVE.key(&stream);
        self.server.script(&stream, call.key(parked).arg(max.min(1000))).await.map_err(answers::of_queue)
    }

    fn keys(&self, queue: &Destination) -> Keys {
        let stream = format!("{}{queue}", self.settings.prefix);
        let with = |end| format!("{stream}:{end}");
        Keys { pauses: with("pauses"), parked: with("parked"), runs: with("runs"), stream }
    }
}

/// Creates the stream and the group of a queue if they do not exist.
async fn make_group(server: &RedisServer, settings: &Settings, Keys { stream, .. }: &Keys) -> Result<()> {
    let mut create = cmd("XGROUP");
    create.arg("CREATE").arg(stream).arg(&settings.group).arg("0").arg("MKSTREAM");
    match server.command(stream, &create).await {
        Err(error) if answers::said(&error).is_some_and(|said| said.starts_with("BUSYGROUP")) => Ok(()),
        made => made,
    }
}

#[derive(Clone, Debug)]
struct Keys {
    stream: String,
    pauses: String,
    parked: String,
    /// The key of the hash that counts how often each unsettled message has run alone.
    runs: String,
}

/// Sends each message to the queue that its destination names. The queue need not be set up.
#[async_trait]
impl Dispatcher for RedisQueues {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        let Some(first) = messages.first().map(|message| self.keys(&message.destination).stream) else { return Ok(()) };
        let mut add = pipe();
        for Outgoing { id, token, destination, body } in messages {
            let add = add.cmd("XADD").arg(self.keys(destination).stream).arg("*").arg(ID).arg(id.as_str());
            add.arg(TOKEN).arg(token.as_str()).arg(BODY).arg(body.as_bytes()).ignore();
        }
        Ok(self.server.changes(&first, add).await?)
    }
}
