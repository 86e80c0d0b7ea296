//! The file of one test.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::support::Place;

/// A file in a folder of its own, which goes with this value.
pub(super) struct File(TempDir);

impl File {
    /// Not set up.
    pub(super) fn bare() -> Self {
        Self(crate::support::folder())
    }

    pub(super) fn ready() -> Self {
        let file = Self::bare();
        file.place().run(&["setup"]).exits(0);
        file
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("namespace.db")
    }

    pub(super) fn place(&self) -> Place {
        Place::new().on(&format!("sqlite://{}", self.path().display()))
    }
}
