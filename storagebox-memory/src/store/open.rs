//! The last step of the builder, which creates the store.

use storagebox_core::{Error, Result};

use super::MemoryStore;
use crate::config::MemoryBuilder;

impl MemoryBuilder {
    /// Creates the store.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if a retention is below one millisecond or above a hundred years.
    pub fn build(self) -> Result<MemoryStore> {
        self.settings.remember.checked().map_err(Error::of_configuration)?;
        Ok(MemoryStore::with(self.settings))
    }
}
