//! Reads entries of a stream.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use redis::{Cmd, Script, cmd};
use storagebox_core::{Error, ErrorKind, Result};
use storagebox_redis::RedisServer;
use tokio::time::Instant;
use tracing::warn;

use super::delivery::{Entry, RedisDelivery, millis};
use super::{Keys, Settings, answers, make_group, script};
use crate::reader::Read;

static TAKE: LazyLock<Script> = LazyLock::new(|| script(include_str!("../../lua/redis_streams/take.lua")));

/// How long the server waits for a new message before it answers a read.
const WAIT: Duration = Duration::from_millis(200);

/// The longest time between two searches for ended leases. A search is expensive, because it reads all entries that are
/// handed out.
const LOOK: Duration = Duration::from_secs(1);

/// The server's answer to a blocking read: the stream, and one entry with its fields.
type Waited = Option<((String, ((String, Vec<Vec<u8>>),)),)>;

pub(super) struct Reader {
    server: Arc<RedisServer>,
    /// The connection for blocking reads, because a blocking read delays every other call on its connection.
    waiting: RedisServer,
    settings: Settings,
    keys: Keys,
    /// When to search for ended leases again. `None` means at the next read.
    look: Option<Instant>,
    /// Where the search for ended leases goes on at the next read, if it is not at its end.
    rest: Option<String>,
    /// Whether the next read takes a new message before a message whose pause is over. Every second read does, so that
    /// neither kind waits for the end of the other.
    takes_new_first: bool,
}

impl Reader {
    pub(super) fn new(server: Arc<RedisServer>, settings: Settings, keys: Keys) -> Self {
        Self { waiting: server.another(), server, settings, keys, look: None, rest: None, takes_new_first: false }
    }

    async fn take(&mut self) -> Result<Option<Entry>> {
        let now = now();
        let begins = self.look.is_none_or(|look| look <= now);
        let from = self.rest.as_deref().unwrap_or(if begins { "-" } else { "" });
        let Settings { group, consumer, lease, .. } = &self.settings;
        let mut call = TAKE.key(&self.keys.stream);
        call.key(&self.keys.pauses)
            .key(&self.keys.runs)
            .arg(group)
            .arg(consumer)
            .arg(millis(*lease))
            .arg(from)
            .arg(u8::from(self.takes_new_first));
        let looks = !from.is_empty();
        let (taken, rest): (Option<Entry>, Option<String>) = self.server.script(&self.keys.stream, &call).await?;
        if looks && rest.is_none() {
            self.look = Some(now + LOOK.min(*lease / 4));
        }
        (self.rest, self.takes_new_first) = (rest, !self.takes_new_first);
        Ok(taken)
    }

    async fn next(&mut self) -> Result<Option<Entry>> {
        match self.take().await? {
            Some(taken) => Ok(Some(taken)),
            // The search for ended leases goes on.
            None if self.rest.is_some() => Ok(None),
            None => self.wait().await,
        }
    }

    /// Creates the missing group. Returns `error` if the group cannot be created.
    async fn make_again(&self, error: Error) -> Result<()> {
        // The new group also delivers messages that were handed out and not finished.
        make_group(&self.server, &self.settings, &self.keys).await.map_err(|_| error)?;
        warn!(queue = self.keys.stream, "the group of the queue was missing and was created again");
        Ok(())
    }

    async fn wait(&self) -> Result<Option<Entry>> {
        let waited: Waited = self.waiting.command(&self.keys.stream, &self.command()).await?;
        Ok(waited.map(|((_, ((entry, fields),)),)| (entry, 1, fields, None)))
    }

    fn command(&self) -> Cmd {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP").arg(&self.settings.group).arg(&self.settings.consumer);
        read.arg("COUNT").arg(1).arg("BLOCK").arg(millis(WAIT)).arg("STREAMS").arg(&self.keys.stream).arg(">");
        read
    }
}

#[async_trait]
impl Read for Reader {
    type Delivery = RedisDelivery;

    async fn read(&mut self) -> Result<Option<RedisDelivery>> {
        let entry = match self.next().await.map_err(answers::of_queue) {
            Err(error) if error.kind() == ErrorKind::NotSetUp => {
                self.make_again(error).await?;
                None
            }
            entry => entry?,
        };
        let delivery =
            |entry| RedisDelivery::new(Arc::clone(&self.server), self.settings.clone(), self.keys.clone(), entry);
        Ok(entry.map(delivery))
    }
}

#[allow(clippy::disallowed_methods, reason = "how often the client looks; leases are judged by the server's clock")]
fn now() -> Instant {
    Instant::now()
}
