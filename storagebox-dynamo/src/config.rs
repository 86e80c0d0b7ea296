//! What a store is made of: its table and prefix, its clock, and how it goes about its calls.

mod regions;
mod url;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Clock, Result, Retention, SystemClock, checked_duration};

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
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct DynamoBuilder {
    pub(crate) settings: Settings,
}

/// What the store does with every call.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) table: String,
    pub(crate) prefix: String,
    /// Where nothing is said, that of the box, which its first call makes the usual one.
    pub(crate) memory: Option<Retention>,
    pub(crate) max_skew: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) shards: u16,
    pub(crate) fetch_limit: usize,
    pub(crate) read_first: ReadFirst,
    pub(crate) retry_atomic: bool,
    pub(crate) keys_alone: bool,
    pub(crate) regions: Regions,
    pub(crate) report_capacity: bool,
    pub(crate) protect: bool,
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

/// Whether `take` reads the claim before it takes an item for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadFirst {
    /// When more than one in seven of the last takes was of a claim that had its item already.
    #[default]
    Auto,
    /// Always: a repeat costs one read, a new claim one read more.
    Always,
    /// Never: a repeat costs a refused transaction.
    Never,
}

/// More items of a page than DynamoDB reads in one request are never asked for.
const MOST_FETCHED: usize = 1_000;
/// More shards are more partitions to look through before a bank is called empty.
const MOST_SHARDS: u16 = 256;

impl Default for DynamoBuilder {
    fn default() -> Self {
        let settings = Settings {
            table: "storagebox".to_owned(),
            prefix: String::new(),
            memory: None,
            max_skew: Duration::from_secs(1),
            call_timeout: Duration::from_secs(10),
            shards: 4,
            fetch_limit: 30,
            read_first: ReadFirst::Auto,
            retry_atomic: false,
            keys_alone: false,
            regions: Regions::One,
            report_capacity: false,
            protect: true,
            clock: None,
        };
        Self { settings }
    }
}

impl DynamoBuilder {
    /// The table, 3 to 255 of `A-Z a-z 0-9 _ . -`; `storagebox` unless said otherwise. A URL names its own.
    #[must_use]
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.settings.table = name.into();
        self
    }

    /// What every partition key begins with, at most 64 bytes, so that several stores share a table.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// How long ended claims, gone tokens and ended operations are remembered. A box keeps what it was made with, seven days
    /// unless said otherwise; everybody goes by that, upkeep too. Who says nothing here opens a box with any; who says
    /// something else than the box is refused, as `Misconfigured`.
    #[must_use]
    pub fn memory(mut self, retention: Retention) -> Self {
        self.settings.memory = Some(retention);
        self
    }

    /// How far the clocks of any client and the service may be apart; a second unless said otherwise. Others act on an
    /// expiry so much later, holders so much earlier. What happens beyond it stands in `promises()`.
    #[must_use]
    pub fn max_skew(mut self, skew: Duration) -> Self {
        self.settings.max_skew = skew;
        self
    }

    /// How long a call may take with all its attempts; ten seconds unless said otherwise, less than the ten minutes for
    /// which DynamoDB knows a transaction again. Its expiry is `OutcomeUnknown`.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.settings.call_timeout = timeout;
        self
    }

    /// Over how many partitions a box that is made from now on is spread, 1 to 256; four unless said otherwise. Each
    /// takes up to 1,000 write units a second. A box that exists keeps its number.
    #[must_use]
    pub fn shards(mut self, shards: u16) -> Self {
        self.settings.shards = shards;
        self
    }

    /// How many free items a page of candidates holds, 1 to 1,000; thirty unless said otherwise, as in article 1.
    #[must_use]
    pub fn fetch_limit(mut self, limit: usize) -> Self {
        self.settings.fetch_limit = limit;
        self
    }

    /// Whether a claim is read before an item is taken for it.
    #[must_use]
    pub fn read_first(mut self, read_first: ReadFirst) -> Self {
        self.settings.read_first = read_first;
        self
    }

    /// Whether `Strategy::Atomic` repeats a change whose reply was lost. It may then be counted twice; without it, it may
    /// not be counted at all, and the call says `OutcomeUnknown` (article 5, approach 1). Off unless said otherwise.
    #[must_use]
    pub fn retry_atomic(mut self, on: bool) -> Self {
        self.settings.retry_atomic = on;
        self
    }

    /// Whether `Strategy::TokenSet` and `Strategy::Window` keep of each operation a key of 12 bytes and nothing else, as the
    /// articles have it: six times as many fit, and as many cost a sixth. A repeat is then told no value and no
    /// `Mismatch` (C-3, C-5), and after a lost reply `AlreadyApplied` of its own change if others have written since; a
    /// window remembers for up to a sixteenth longer than its lifetime. Off unless said otherwise; a box stays as it was made.
    ///
    /// A key is 95 bits of the operation's hash. The chance that a new operation has the key of one of 31,369 others, and is
    /// not applied, is below 10⁻²⁴. But whoever may choose operations can look for two with one key, which takes about 2⁴⁸
    /// hashes: where strangers name operations, leave it off (128 bits), or use `Marker`, which keeps them whole.
    #[must_use]
    pub fn keys_alone(mut self, on: bool) -> Self {
        self.settings.keys_alone = on;
        self
    }

    /// In which regions of a global table the store is used.
    #[must_use]
    pub fn regions(mut self, regions: Regions) -> Self {
        self.settings.regions = regions;
        self
    }

    /// Asks the service what each request consumed, for those who read its answers. Off unless said otherwise.
    #[must_use]
    pub fn report_capacity(mut self, on: bool) -> Self {
        self.settings.report_capacity = on;
        self
    }

    /// Whether `setup` protects the table from its deletion when it creates it, and turns on its continuous backups
    /// (point-in-time recovery) if they are off. Both are on unless said otherwise; the backups cost what AWS asks for.
    #[must_use]
    pub fn protect(mut self, on: bool) -> Self {
        self.settings.protect = on;
        self
    }

    /// Another clock than the machine's, which is then taken as it is. For tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Some(Arc::new(clock));
        self
    }
}

impl Settings {
    pub(crate) fn checked(&self) -> Result<()> {
        self.memory.unwrap_or(Retention::DEFAULT).checked()?;
        checked_duration("call timeout", self.call_timeout)?;
        let known_again = Duration::from_secs(9 * 60);
        if self.call_timeout > known_again {
            return Err(misconfigured("call timeout", format_args!("must be at most {known_again:?}")));
        }
        if self.max_skew > Duration::from_secs(3600) {
            return Err(misconfigured("max skew", "must be at most an hour"));
        }
        in_range("shards", self.shards.into(), MOST_SHARDS.into())?;
        in_range("fetch limit", self.fetch_limit, MOST_FETCHED)?;
        checked_table(&self.table)?;
        checked_prefix(&self.prefix)
    }

    /// The clock, corrected by the service's if it is the machine's.
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

/// DynamoDB's own rule.
pub(crate) fn checked_table(name: &str) -> Result<()> {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || "_.-".contains(char);
    match (3..=255).contains(&name.len()) && name.chars().all(is_allowed) {
        true => Ok(()),
        false => Err(misconfigured("table", "must have 3 to 255 of the characters A-Z a-z 0-9 _ . -")),
    }
}

/// Box names and ids need the rest of a key's 2,048 bytes.
fn checked_prefix(prefix: &str) -> Result<()> {
    match prefix.len() <= 64 && !prefix.contains('\0') {
        true => Ok(()),
        false => Err(misconfigured("prefix", "must have at most 64 bytes and no U+0000")),
    }
}
