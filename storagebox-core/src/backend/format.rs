//! The format version of a store, and the time for which the store remembers.

use crate::backend::micros_of;
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::time::Retention;

/// The format in which a version of the library keeps a store.
#[derive(Clone, Copy, Debug)]
pub struct StoreFormat {
    backend: &'static str,
    store: &'static str,
    version: i64,
}

impl StoreFormat {
    /// Creates the format with this version. `store` is the word for what `setup` creates, such as `schema`.
    pub const fn new(backend: &'static str, store: &'static str, version: i64) -> Self {
        Self { backend, store, version }
    }

    /// Checks that a store has the version of this library.
    ///
    /// # Errors
    ///
    /// `NotSetUp` for an older version, `Unsupported` for a newer one.
    pub fn check(&self, found: i64) -> Result<()> {
        self.refuse_newer(found)?;
        if found == self.version {
            return Ok(());
        }
        let why = format!("the {} is of version {found}, and this library needs {}", self.store, self.version);
        Err(Error::new(ErrorKind::NotSetUp, why).on(self.backend))
    }

    /// Checks that a store has no newer version than this library.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a newer version.
    pub fn refuse_newer(&self, found: i64) -> Result<()> {
        if found <= self.version {
            return Ok(());
        }
        let (store, version) = (self.store, self.version);
        let what = format!("version {found} of the {store}, which is newer than this library's version {version},");
        Err(Error::unsupported(what, "a newer storagebox").on(self.backend))
    }

    /// Checks that a store remembers for as long as the program asks, if it asks.
    ///
    /// # Errors
    ///
    /// `Misconfigured` if the program asks for another time.
    pub fn check_memory(&self, kept: Retention, asked: Option<Retention>) -> Result<()> {
        match asked.filter(|asked| micros_of(*asked) != micros_of(kept)) {
            None => Ok(()),
            Some(other) => {
                let why = format_args!("the store was set up with {kept}, and cannot be opened with {other}");
                Err(Error::misconfigured("remember", why).on(self.backend))
            }
        }
    }
}
