//! Many texts as one argument of a statement.

use std::collections::BTreeSet;

use storagebox_core::{Error, Result};

/// The most texts in one transaction.
const BATCH: usize = 5_000;

/// The most texts of a call that shares its transaction with other calls.
const SHARED: u64 = 64;

/// The texts of items or tokens, as a JSON array for `json_each`.
#[derive(Debug)]
pub(crate) struct Texts {
    json: String,
    count: u64,
}

impl Texts {
    /// Sorts the texts, removes duplicates, and splits the texts into batches.
    pub(crate) fn batches<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<Self>> {
        let distinct: Vec<_> = texts.collect::<BTreeSet<_>>().into_iter().collect();
        distinct.chunks(BATCH).map(Self::of).collect()
    }

    fn of(texts: &[&str]) -> Result<Self> {
        let json = serde_json::to_string(texts);
        let json = json.map_err(|error| Error::invalid("texts", "cannot be written as JSON").caused_by(error))?;
        Ok(Self { json, count: texts.len() as u64 })
    }

    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    /// Returns whether there are too many texts for a shared transaction.
    pub(crate) fn is_bulk(&self) -> bool {
        self.count > SHARED
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}
