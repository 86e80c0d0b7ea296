//! The file of one test.

use std::path::PathBuf;

use tempfile::TempDir;

use super::ready;
use crate::stores::Store;
use crate::support::folder;

pub(crate) struct File(TempDir);

impl File {
    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("store.db")
    }
}

impl Store for File {
    const BACKEND: &str = "sqlite";
    const ODD: &str = "'; drop table storagebox_items; -- \"],[\" ?1 \\ \"é\" e\u{301} 🎁";
    const WRONG_URLS: &[(&str, &str)] = ready::WRONG_URLS;
    const SETUPS: usize = 8;

    fn bare() -> Self {
        Self(folder())
    }

    fn url(&self) -> String {
        format!("sqlite://{}", self.path().display())
    }

    fn left_by_the_suite(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    fn note_of_bare(&self) -> String {
        format!("there is no file {}", self.path().display())
    }
}
