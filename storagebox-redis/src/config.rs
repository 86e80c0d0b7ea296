//! What a store is made of: its URL or client, its prefix and how it goes about its calls.

mod access;
mod at;
mod prefix;
mod url;

#[cfg(feature = "test-clock")]
use std::sync::Arc;
#[cfg(feature = "test-clock")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_core::{Result, Retention, checked_duration};

pub(crate) use access::Access;
pub use access::Login;
pub(crate) use at::At;
pub(crate) use prefix::Prefix;
pub(crate) use url::read;

/// Builds a [`RedisStore`](crate::RedisStore).
#[derive(Clone, Debug)]
pub struct RedisBuilder {
    pub(crate) settings: Settings,
    pub(crate) access: Access,
    #[cfg(feature = "pool")]
    pub(crate) pool: Option<usize>,
    #[cfg(feature = "cluster")]
    pub(crate) reached: std::collections::HashMap<redis::cluster::NodeAddress, redis::cluster::NodeAddress>,
}

/// What every box of a store shares.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) prefix: Prefix,
    /// Where nothing is said, that of the store, which `setup` makes the usual one.
    pub(crate) memory: Option<Retention>,
    pub(crate) call_timeout: Duration,
    pub(crate) wait: Option<Wait>,
    pub(crate) require_aof: bool,
    pub(crate) eviction: Eviction,
    #[cfg(feature = "test-clock")]
    pub(crate) moved: Moved,
}

/// How many replicas must have a change before it is acknowledged, and how long that may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) replicas: u32,
    pub(crate) timeout: Duration,
}

/// What [`setup`](storagebox_core::Backend::setup) and [`ping`](storagebox_core::Backend::ping) do about a server that may
/// evict keys that do not expire, as none of ours does, when its memory is full.
///
/// Whatever is evicted is a promise that is broken: an item is lost, or given away twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Eviction {
    /// They refuse it: the server's `maxmemory-policy` must be `noeviction` or one of `volatile-*`.
    #[default]
    Refuse,
    /// They warn, by an event of `tracing`.
    Warn,
}

/// How far the clock of the scripts was moved on; clones move together.
#[cfg(feature = "test-clock")]
#[derive(Clone, Debug, Default)]
pub struct Moved(Arc<AtomicU64>);

#[cfg(feature = "test-clock")]
impl Moved {
    /// How far, in microseconds.
    pub fn micros(&self) -> i64 {
        i64::try_from(self.0.load(Ordering::SeqCst)).unwrap_or(i64::MAX)
    }

    /// Moves it on.
    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
}

impl Settings {
    /// How far the clock of the scripts was moved on, in microseconds: not at all, but in tests.
    #[cfg(feature = "test-clock")]
    pub(crate) fn moved(&self) -> u64 {
        self.moved.0.load(Ordering::SeqCst)
    }

    /// How far the clock of the scripts was moved on, in microseconds: not at all, but in tests.
    #[cfg(not(feature = "test-clock"))]
    pub(crate) fn moved(&self) -> u64 {
        0
    }
}

impl Default for RedisBuilder {
    fn default() -> Self {
        let settings = Settings {
            prefix: Prefix::default(),
            memory: None,
            call_timeout: Duration::from_secs(10),
            wait: None,
            require_aof: false,
            eviction: Eviction::Refuse,
            #[cfg(feature = "test-clock")]
            moved: Moved::default(),
        };
        Self {
            settings,
            access: Access::default(),
            #[cfg(feature = "pool")]
            pool: None,
            #[cfg(feature = "cluster")]
            reached: Default::default(),
        }
    }
}

impl RedisBuilder {
    /// What all keys begin with; `storagebox` unless told otherwise.
    ///
    /// # Errors
    ///
    /// `Misconfigured` unless it is 1 to 64 of `a-z`, `A-Z`, `0-9`, `_`, `-`, `.` and `:`.
    pub fn prefix(mut self, prefix: &str) -> Result<Self> {
        self.settings.prefix = Prefix::new(prefix)?;
        Ok(self)
    }

    /// How long ended claims, gone tokens and ended operations are remembered. `setup` keeps it with the store that it makes,
    /// seven days unless told otherwise; everybody goes by that, upkeep too. Who says nothing here opens a store with any;
    /// who says something else than the store is refused, as `Misconfigured`.
    #[must_use]
    pub fn memory(mut self, retention: Retention) -> Self {
        self.settings.memory = Some(retention);
        self
    }

    /// How long a call may take, its own retries included; ten seconds unless told otherwise. A call that took longer
    /// is `OutcomeUnknown`.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.settings.call_timeout = timeout;
        self
    }

    /// Acknowledges a change only when so many replicas have it; none unless told otherwise. Where they have not in time
    /// the call is `OutcomeUnknown`: the change was made, and may be lost with the server.
    #[must_use]
    pub fn wait(mut self, replicas: u32, timeout: Duration) -> Self {
        self.settings.wait = (replicas > 0).then_some(Wait { replicas, timeout });
        self
    }

    /// Whether `setup` and `ping` refuse a server without an append-only file; not unless told otherwise.
    #[must_use]
    pub fn require_aof(mut self, on: bool) -> Self {
        self.settings.require_aof = on;
        self
    }

    /// What `setup` and `ping` do about a server that may evict keys; they refuse it unless told otherwise.
    #[must_use]
    pub fn eviction(mut self, eviction: Eviction) -> Self {
        self.settings.eviction = eviction;
        self
    }

    /// A pool of so many connections, each call on one that nobody else has meanwhile, instead of one connection for all
    /// calls: slower, but no call waits behind another's `wait`.
    #[cfg(feature = "pool")]
    #[must_use]
    pub fn pool(mut self, connections: usize) -> Self {
        self.pool = Some(connections);
        self
    }

    /// A node of a cluster that says one address of itself and is reached at another, as behind a translation of
    /// addresses, or where certificates name the host.
    #[cfg(feature = "cluster")]
    #[must_use]
    pub fn reached_at(mut self, said: (&str, u16), reached: (&str, u16)) -> Self {
        let address = |(host, port): (&str, u16)| redis::cluster::NodeAddress::new(host, port);
        self.reached.insert(address(said), address(reached));
        self
    }

    /// Judges every expiry by the server's clock and what this was moved on by: for tests alone.
    #[cfg(feature = "test-clock")]
    #[must_use]
    pub fn moved(mut self, moved: Moved) -> Self {
        self.settings.moved = moved;
        self
    }
}

impl Settings {
    pub(crate) fn checked(&self) -> Result<()> {
        self.memory.unwrap_or(Retention::DEFAULT).checked()?;
        checked_duration("call timeout", self.call_timeout)?;
        if let Some(wait) = self.wait {
            checked_duration("wait timeout", wait.timeout)?;
        }
        Ok(())
    }
}
