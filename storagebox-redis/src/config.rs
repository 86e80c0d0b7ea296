//! The configuration of a store: its URL or client, its prefix and its settings for calls.

mod access;
mod at;
mod prefix;
mod url;

#[cfg(feature = "test-clock")]
use std::sync::Arc;
#[cfg(feature = "test-clock")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_core::backend::StoreOptions;
use storagebox_core::{Result, checked_duration};

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

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) prefix: Prefix,
    pub(crate) options: StoreOptions,
    pub(crate) wait: Option<Wait>,
    pub(crate) require_aof: bool,
    pub(crate) eviction: Eviction,
    #[cfg(feature = "test-clock")]
    pub(crate) moved: Moved,
}

/// The number of replicas that must have a change, and the longest wait for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) replicas: u32,
    pub(crate) timeout: Duration,
}

/// What [`setup`](storagebox_core::Backend::setup) and [`ping`](storagebox_core::Backend::ping) do if the server, when
/// its memory is full, may evict keys that do not expire. The store's keys do not expire.
///
/// Each evicted key breaks a guarantee: an item is lost, or given away twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Eviction {
    /// `setup` and `ping` return an error unless the server's `maxmemory-policy` is `noeviction` or one of
    /// `volatile-*`.
    #[default]
    Refuse,
    /// `setup` and `ping` log a warning, as an event of `tracing`.
    Warn,
}

/// How far the clock of the scripts was moved forward. Clones move together.
#[cfg(feature = "test-clock")]
#[derive(Clone, Debug, Default)]
pub struct Moved(Arc<AtomicU64>);

#[cfg(feature = "test-clock")]
impl Moved {
    /// Returns how far the clock was moved, in microseconds.
    pub fn micros(&self) -> i64 {
        i64::try_from(self.0.load(Ordering::SeqCst)).unwrap_or(i64::MAX)
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }

    /// Moves the clock back, by no more than it was moved forward.
    pub fn turn_back(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let _before =
            self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |moved| Some(moved.saturating_sub(micros)));
    }
}

impl Settings {
    /// Returns how far tests have moved the clock of the scripts forward, in microseconds.
    #[cfg(feature = "test-clock")]
    pub(crate) fn moved(&self) -> u64 {
        self.moved.0.load(Ordering::SeqCst)
    }

    #[cfg(not(feature = "test-clock"))]
    pub(crate) fn moved(&self) -> u64 {
        0
    }
}

impl Default for RedisBuilder {
    fn default() -> Self {
        let settings = Settings {
            prefix: Prefix::default(),
            options: StoreOptions::default(),
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
    /// Sets the prefix of all keys. Defaults to `storagebox`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` unless the prefix has 1 to 64 of the characters `a-z`, `A-Z`, `0-9`, `_`, `-`, `.` and
    /// `:`.
    pub fn prefix(mut self, prefix: &str) -> Result<Self> {
        self.settings.prefix = Prefix::new(prefix)?;
        Ok(self)
    }

    storagebox_core::store_options!("store", call_timeout);

    /// Sets how many replicas must have a change before it is acknowledged. Defaults to none. If they do not have it
    /// within `timeout`, the call returns `OutcomeUnknown`: the change was made, and may be lost with the server.
    #[must_use]
    pub fn wait(mut self, replicas: u32, timeout: Duration) -> Self {
        self.settings.wait = (replicas > 0).then_some(Wait { replicas, timeout });
        self
    }

    /// Sets whether `setup` and `ping` refuse a server without an append-only file. Defaults to off.
    #[must_use]
    pub fn require_aof(mut self, on: bool) -> Self {
        self.settings.require_aof = on;
        self
    }

    /// Sets what `setup` and `ping` do if the server may evict keys. Defaults to [`Eviction::Refuse`].
    #[must_use]
    pub fn eviction(mut self, eviction: Eviction) -> Self {
        self.settings.eviction = eviction;
        self
    }

    /// Sets the number of connections in a pool. Each call then has a connection to itself, instead of one connection
    /// for all calls. A pool is slower, but no call waits behind the `wait` of another call.
    #[cfg(feature = "pool")]
    #[must_use]
    pub fn pool(mut self, connections: usize) -> Self {
        self.pool = Some(connections);
        self
    }

    /// Sets the address at which the store reaches a cluster node that announces another address, as behind a network
    /// address translation, or if the certificates name the host.
    #[cfg(feature = "cluster")]
    #[must_use]
    pub fn reached_at(mut self, said: (&str, u16), reached: (&str, u16)) -> Self {
        let address = |(host, port): (&str, u16)| redis::cluster::NodeAddress::new(host, port);
        self.reached.insert(address(said), address(reached));
        self
    }

    /// Sets how far the server's clock is moved forward when it decides an expiry. For tests only.
    #[cfg(feature = "test-clock")]
    #[must_use]
    pub fn moved(mut self, moved: Moved) -> Self {
        self.settings.moved = moved;
        self
    }
}

impl Settings {
    pub(crate) fn checked(&self) -> Result<()> {
        self.options.checked()?;
        if let Some(wait) = self.wait {
            checked_duration("wait timeout", wait.timeout)?;
        }
        Ok(())
    }
}
