//! What a store is made of: its file or pool, and how it goes about its calls.

mod url;

use std::path::{Path, PathBuf, absolute, is_separator};
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteSynchronous;
use storagebox_core::{Clock, Error, Result, Retention, SystemClock, checked_duration};

use crate::error::bad;

pub(crate) use url::read;

/// Builds a [`SqliteStore`](crate::SqliteStore).
#[derive(Clone, Debug, Default)]
pub struct SqliteBuilder {
    pub(crate) settings: Settings,
}

/// What every box of a store shares.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) clock: Arc<dyn Clock>,
    /// What the store must have; whatever it has if nothing is said, and seven days if it is made.
    pub(crate) memory: Option<Retention>,
    pub(crate) call_timeout: Duration,
    pub(crate) synchronous: Synchronous,
    pub(crate) checkpoint_after: u32,
    pub(crate) combining: bool,
}

/// When what was acknowledged is on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Synchronous {
    /// At the next checkpoint: a machine that loses its power loses what was acknowledged last. A process that dies
    /// loses nothing.
    Normal,
    /// Before it is acknowledged.
    #[default]
    Full,
    /// Before it is acknowledged, the folder of the file too.
    Extra,
}

impl Synchronous {
    pub(crate) fn as_driver_s(self) -> SqliteSynchronous {
        match self {
            Self::Normal => SqliteSynchronous::Normal,
            Self::Full => SqliteSynchronous::Full,
            Self::Extra => SqliteSynchronous::Extra,
        }
    }

    /// As `PRAGMA synchronous` answers it.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Normal => 1,
            Self::Full => 2,
            Self::Extra => 3,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            memory: None,
            call_timeout: Duration::from_secs(10),
            synchronous: Synchronous::Full,
            checkpoint_after: 1_000,
            combining: true,
        }
    }
}

impl SqliteBuilder {
    /// Judges every expiry by this clock instead of the machine's. All processes on one file must agree on it.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Arc::new(clock);
        self
    }

    /// How long ended claims, gone tokens and ended operations are remembered. `setup` keeps it with the store that it makes,
    /// seven days unless told otherwise; everybody goes by that, upkeep too. Who says nothing here opens a store with any;
    /// who says something else than the store is refused, as `Misconfigured`.
    #[must_use]
    pub fn memory(mut self, retention: Retention) -> Self {
        self.settings.memory = Some(retention);
        self
    }

    /// How long a call may take, waiting for other processes included; ten seconds unless told otherwise. One that could
    /// not begin by then is `Contention`, one that began and has not ended is `OutcomeUnknown`.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.settings.call_timeout = timeout;
        self
    }

    /// When what was acknowledged is on the disk; before it is acknowledged unless told otherwise.
    #[must_use]
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.settings.synchronous = synchronous;
        self
    }

    /// After how many pages in the write-ahead log whoever commits moves them to the file; 1,000 unless told otherwise,
    /// 0 for never, which leaves it to [`maintain`](storagebox_core::Backend::maintain). Not used with a pool that is
    /// handed in.
    #[must_use]
    pub fn wal_autocheckpoint(mut self, pages: u32) -> Self {
        self.settings.checkpoint_after = pages;
        self
    }

    /// Whether calls that come while another is under way share one transaction, and with it one wait for the disk; on
    /// unless told otherwise.
    #[must_use]
    pub fn combining(mut self, on: bool) -> Self {
        self.settings.combining = on;
        self
    }
}

/// The whole path. So it means the same after the process changed its folder, and no name is anything else to SQLite,
/// for which some are.
pub(crate) fn checked_path(path: &Path) -> Result<PathBuf> {
    match path.to_str() {
        None => return Err(bad("path", "must be UTF-8")),
        Some(":memory:") => return Err(bad("path", IN_MEMORY)),
        Some(text) if text.contains('\0') => return Err(bad("path", "must not hold U+0000")),
        Some(text) if is_of_a_folder(text) => return Err(bad("path", OF_A_FOLDER)),
        Some(_) => {}
    }
    absolute(path).map_err(|_| bad("path", "must not be empty; name a file, as in sqlite:storagebox.db"))
}

/// SQLite would open `file/` as `file`, which to all others is a name of something else.
fn is_of_a_folder(text: &str) -> bool {
    let last = text.rsplit(is_separator).next();
    !text.is_empty() && matches!(last, Some("" | "." | ".."))
}

const OF_A_FOLDER: &str = "must name a file, not a folder: it must not end in a slash, `.` or `..`";

const IN_MEMORY: &str =
    "must be a file; for a store that is gone with its process, use the backend `memory:`";

impl Settings {
    pub(crate) fn checked(self) -> Result<Self> {
        self.memory.unwrap_or(Retention::DEFAULT).checked().map_err(Error::of_configuration)?;
        checked_duration("call timeout", self.call_timeout).map_err(Error::of_configuration)?;
        match i32::try_from(self.checkpoint_after) {
            Ok(_) => Ok(self),
            Err(_) => Err(bad("wal autocheckpoint", "must be at most 2147483647 pages")),
        }
    }
}
