//! One delivery of an entry of a stream.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use redis::Script;
use storagebox_core::{BoxError, Result};
use storagebox_redis::RedisServer;

use super::{Keys, Settings, answers, script};
use crate::delivery::{Delivery, Malformed, Received, STALE, Settle};
use crate::wire::{BODY, ID, TOKEN, received};

static TELL: LazyLock<Script> = LazyLock::new(|| script(include_str!("../../lua/redis_streams/tell.lua")));

/// A message of a [queue in a Redis stream](super::RedisQueues).
pub struct RedisDelivery {
    server: Arc<RedisServer>,
    settings: Settings,
    keys: Keys,
    entry: String,
    /// How often the entry has been delivered, which is the receipt of this delivery.
    handed_out: u32,
    lapsed: Option<u32>,
    received: Result<Received, Malformed>,
}

/// An entry from a script: its id, the number of its deliveries, its fields, and how often the entry has run alone.
/// That number is `None` unless the lease of an earlier delivery had ended.
pub(super) type Entry = (String, u32, Vec<Vec<u8>>, Option<u32>);

impl RedisDelivery {
    pub(super) fn new(server: Arc<RedisServer>, settings: Settings, keys: Keys, entry: Entry) -> Self {
        let (entry, handed_out, fields, lapsed) = entry;
        Self { server, settings, keys, entry, handed_out, lapsed, received: read(fields) }
    }

    async fn tell(&self, what: &str, pause: Duration) -> Result<(), BoxError> {
        let Keys { stream, pauses, parked, runs } = &self.keys;
        let Settings { group, consumer, .. } = &self.settings;
        let mut call = TELL.key(stream);
        call.key(pauses).key(parked).key(runs).arg(what).arg(group).arg(consumer);
        call.arg(&self.entry).arg(self.handed_out).arg(millis(pause));
        match self.server.script::<u8>(stream, &call).await.map_err(answers::of_queue)? {
            0 => Err(STALE.into()),
            _ => Ok(()),
        }
    }
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads the fields, which are alternating names and values.
fn read(fields: Vec<Vec<u8>>) -> Result<Received, Malformed> {
    let (mut id, mut token, mut body) = (None, None, None);
    let mut fields = fields.into_iter();
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        match name {
            name if name == ID.as_bytes() => id = Some(value),
            name if name == TOKEN.as_bytes() => token = Some(value),
            name if name == BODY.as_bytes() => body = Some(value),
            _ => {}
        }
    }
    received(id, token, body)
}

impl fmt::Debug for RedisDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys: Keys { stream, .. }, entry, handed_out, .. } = self;
        f.debug_struct("RedisDelivery")
            .field("stream", stream)
            .field("entry", entry)
            .field("handed_out", handed_out)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Delivery for RedisDelivery {
    fn received(&self) -> Result<&Received, Malformed> {
        self.received.as_ref().map_err(Clone::clone)
    }

    fn attempt(&self) -> u32 {
        self.handed_out
    }

    fn lapsed(&self) -> Option<u32> {
        self.lapsed
    }

    async fn begin_alone(&self) -> Result<(), BoxError> {
        self.tell("alone", Duration::ZERO).await
    }

    /// Begins another lease of the queue's length. Ignores the argument.
    async fn extend(&self, _lease: Duration) -> Result<(), BoxError> {
        // The server compares idle times with the lease of the queue.
        self.tell("extend", Duration::ZERO).await
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        match settle {
            Settle::Ack => self.tell("ack", Duration::ZERO).await,
            Settle::Retry { after } => self.tell("retry", after).await,
            Settle::Park => self.tell("park", Duration::ZERO).await,
        }
    }
}
