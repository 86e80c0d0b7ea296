//! The settings of a store.

mod url;

use std::path::{Path, PathBuf, absolute, is_separator};
use std::sync::Arc;

use sqlx::sqlite::SqliteSynchronous;
use storagebox_core::backend::StoreOptions;
use storagebox_core::{Clock, Result, SystemClock};

use crate::error::bad;

pub(crate) use url::read;

/// Builds a [`SqliteStore`](crate::SqliteStore).
#[derive(Clone, Debug, Default)]
pub struct SqliteBuilder {
    pub(crate) settings: Settings,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) options: StoreOptions,
    pub(crate) synchronous: Synchronous,
    pub(crate) checkpoint_after: u32,
    pub(crate) combining: bool,
}

/// When an acknowledged change is on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Synchronous {
    /// A change is on the disk after the next checkpoint. A machine that loses power loses the changes that were
    /// acknowledged last. A process that dies loses nothing.
    Normal,
    /// A change is on the disk before it is acknowledged.
    #[default]
    Full,
    /// A change is on the disk before it is acknowledged. The folder of the file is synced too.
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

    /// Returns the value of `PRAGMA synchronous`.
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
            options: StoreOptions::default(),
            synchronous: Synchronous::Full,
            checkpoint_after: 1_000,
            combining: true,
        }
    }
}

impl SqliteBuilder {
    /// Sets the clock that decides every expiry. Defaults to the machine's clock. All processes that use one file must
    /// use clocks that agree.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Arc::new(clock);
        self
    }

    storagebox_core::store_options! {
        "store",
        /// The time includes the wait for other processes. A call that cannot begin in time returns `Contention`.
        call_timeout
    }

    /// Sets when an acknowledged change is on the disk. Defaults to [`Synchronous::Full`], before it is acknowledged.
    #[must_use]
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.settings.synchronous = synchronous;
        self
    }

    /// Sets after how many pages in the write-ahead log a commit moves them to the file. Defaults to 1,000. With 0,
    /// commits never move them, and only [`maintain`](storagebox_core::Backend::maintain) does. Has no effect on an
    /// existing pool.
    #[must_use]
    pub fn wal_autocheckpoint(mut self, pages: u32) -> Self {
        self.settings.checkpoint_after = pages;
        self
    }

    /// Sets whether calls that arrive during another call share one transaction, and so one wait for the disk. Defaults
    /// to on.
    #[must_use]
    pub fn combining(mut self, on: bool) -> Self {
        self.settings.combining = on;
        self
    }
}

/// Returns the absolute path of the file. Refuses a path that is empty, names a folder, or is special, such as
/// `:memory:`.
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

/// Returns whether the path names a folder: it ends in a slash, `.` or `..`.
fn is_of_a_folder(text: &str) -> bool {
    let last = text.rsplit(is_separator).next();
    !text.is_empty() && matches!(last, Some("" | "." | ".."))
}

const OF_A_FOLDER: &str = "must name a file, not a folder: it must not end in a slash, `.` or `..`";

const IN_MEMORY: &str = "must be a file; for a store that ends with its process, use the backend `memory:`";

impl Settings {
    pub(crate) fn checked(self) -> Result<Self> {
        self.options.checked()?;
        match i32::try_from(self.checkpoint_after) {
            Ok(_) => Ok(self),
            Err(_) => Err(bad("wal autocheckpoint", "must be at most 2147483647 pages")),
        }
    }
}
