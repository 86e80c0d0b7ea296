//! The settings of a store, and the builder that sets them.

mod regions;
mod url;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::backend::StoreOptions;
use storagebox_core::backend::url::plain;
use storagebox_core::{Clock, Result, SystemClock};

use crate::error::misconfigured;

pub(crate) use url::{Address, of_articles, read};

pub use regions::Regions;

/// Builds a [`DynamoStore`](crate::DynamoStore).
///
/// # Example
///
/// ```no_run
/// # fn main() -> storagebox_core::Result<()> {
/// use storagebox_dynamo::DynamoStore;
///
/// let store = DynamoStore::builder().prefix("shop/").shards(16).connect("dynamodb://eu-west-1/storagebox")?;
/// println!("{store:?}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct DynamoBuilder {
    pub(crate) settings: Settings,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) table: String,
    pub(crate) prefix: String,
    pub(crate) options: StoreOptions,
    pub(crate) max_skew: Duration,
    pub(crate) shards: u16,
    pub(crate) fetch_limit: usize,
    pub(crate) read_first: ReadFirst,
    pub(crate) retry_atomic: bool,
    pub(crate) regions: Regions,
    pub(crate) report_capacity: bool,
    pub(crate) protect: bool,
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

/// Whether `take` reads the claim before it takes an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadFirst {
    /// Reads the claim before it takes an item, if more than one in seven of the last takes was for a claim that
    /// already had an item.
    #[default]
    Auto,
    /// Always reads the claim before it takes an item. A retry costs one read, and a new claim costs one extra read.
    Always,
    /// Never reads the claim before it takes an item. A retry costs a refused transaction.
    Never,
}

/// The largest `fetch_limit`, so that one request can read a page.
const MOST_FETCHED: usize = 1_000;
/// The largest number of shards. A `take` from an empty bank reads every shard.
const MOST_SHARDS: u16 = 256;

impl Default for DynamoBuilder {
    fn default() -> Self {
        let settings = Settings {
            table: "storagebox".to_owned(),
            prefix: String::new(),
            options: StoreOptions::default(),
            max_skew: Duration::from_secs(1),
            shards: 4,
            fetch_limit: 30,
            read_first: ReadFirst::Auto,
            retry_atomic: false,
            regions: Regions::One,
            report_capacity: false,
            protect: true,
            clock: None,
        };
        Self { settings }
    }
}

impl DynamoBuilder {
    /// Sets the table, 3 to 255 of the characters `A-Z a-z 0-9 _ . -`. Defaults to `storagebox`. A URL names its own
    /// table.
    #[must_use]
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.settings.table = name.into();
        self
    }

    /// Sets the prefix of all partition keys, at most 64 bytes without control characters or blanks at the ends, so
    /// that several stores can share a table.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Sets how far the clocks of any client and of the service may be apart. Defaults to 1 second. A holder acts on an
    /// expiry this much earlier, and all others act on it this much later. `promises()` describes what happens if
    /// clocks differ by more.
    #[must_use]
    pub fn max_skew(mut self, skew: Duration) -> Self {
        self.settings.max_skew = skew;
        self
    }

    storagebox_core::store_options! {
        "namespace",
        /// The timeout must be below the ten minutes for which DynamoDB recognises a transaction that is sent again.
        call_timeout
    }

    /// Sets the number of partitions over which a new namespace is spread, 1 to 256. Defaults to 4. Each partition
    /// takes up to 1,000 write units per second. A namespace that exists keeps its number.
    #[must_use]
    pub fn shards(mut self, shards: u16) -> Self {
        self.settings.shards = shards;
        self
    }

    /// Sets how many free items a page of candidates holds, 1 to 1,000. Defaults to 30, as in article 1.
    #[must_use]
    pub fn fetch_limit(mut self, limit: usize) -> Self {
        self.settings.fetch_limit = limit;
        self
    }

    /// Sets whether `take` reads a claim before it takes an item for the claim.
    #[must_use]
    pub fn read_first(mut self, read_first: ReadFirst) -> Self {
        self.settings.read_first = read_first;
        self
    }

    /// Sets whether `Strategy::Atomic` repeats a change after a lost reply. Defaults to off. If on, the change may be
    /// counted twice. If off, the change may not be counted at all, and the call returns `OutcomeUnknown` (article 5,
    /// approach 1).
    #[must_use]
    pub fn retry_atomic(mut self, on: bool) -> Self {
        self.settings.retry_atomic = on;
        self
    }

    /// Sets in which regions of a global table the store is used.
    #[must_use]
    pub fn regions(mut self, regions: Regions) -> Self {
        self.settings.regions = regions;
        self
    }

    /// Sets whether requests ask the service what capacity they consumed, for programs that read the service's replies.
    /// Defaults to off.
    #[must_use]
    pub fn report_capacity(mut self, on: bool) -> Self {
        self.settings.report_capacity = on;
        self
    }

    /// Sets whether `setup` turns on deletion protection when it creates the table, and turns on continuous backups
    /// (point-in-time recovery) if they are off. Defaults to on for both. AWS charges for the backups.
    #[must_use]
    pub fn protect(mut self, on: bool) -> Self {
        self.settings.protect = on;
        self
    }

    /// Sets the clock that decides every expiry. Defaults to the machine's clock, corrected by the service's replies. A
    /// clock that is set here is used without correction. For tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Some(Arc::new(clock));
        self
    }
}

impl Settings {
    pub(crate) fn checked(&self) -> Result<()> {
        self.options.checked()?;
        // DynamoDB recognises a repeated transaction for ten minutes.
        let most = Duration::from_secs(9 * 60);
        if self.options.call_timeout > most {
            return Err(misconfigured("call timeout", format_args!("must be at most {most:?}")));
        }
        if self.max_skew > Duration::from_secs(3600) {
            return Err(misconfigured("max skew", "must be at most an hour"));
        }
        in_range("shards", self.shards.into(), MOST_SHARDS.into())?;
        in_range("fetch limit", self.fetch_limit, MOST_FETCHED)?;
        checked_table(&self.table)?;
        checked_prefix(&self.prefix)
    }

    /// Returns the clock that was set, or the machine's clock.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone().unwrap_or_else(|| Arc::new(SystemClock))
    }
}

fn in_range(field: &'static str, found: usize, most: usize) -> Result<()> {
    match (1..=most).contains(&found) {
        true => Ok(()),
        false => Err(misconfigured(field, format_args!("must be 1 to {most}, not {found}"))),
    }
}

pub(crate) fn checked_table(name: &str) -> Result<()> {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || "_.-".contains(char);
    match (3..=255).contains(&name.len()) && name.chars().all(is_allowed) {
        true => Ok(()),
        false => Err(misconfigured("table", "must have 3 to 255 of the characters A-Z a-z 0-9 _ . -")),
    }
}

/// Checks the prefix, which shares the 2,048 bytes of a key with names and ids.
fn checked_prefix(prefix: &str) -> Result<()> {
    plain("prefix", prefix)?;
    match prefix.len() <= 64 {
        true => Ok(()),
        false => Err(misconfigured("prefix", "must have at most 64 bytes")),
    }
}
