//! Many texts as one argument.

use std::collections::BTreeSet;

use storagebox_core::{Error, Result};

/// Texts in one transaction: enough that its end costs little, few enough that nobody waits long for it.
const BATCH: usize = 5_000;

/// Texts in a call that may share its transaction with others.
const SHARED: u64 = 64;

/// Texts as a JSON array, which `json_each` takes apart, and how many they are.
#[derive(Debug)]
pub(crate) struct Texts {
    json: String,
    count: u64,
}

impl Texts {
    /// Each text once, in order, in as many batches as it takes.
    pub(crate) fn batches<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<Self>> {
        let distinct: Vec<_> = texts.collect::<BTreeSet<_>>().into_iter().collect();
        distinct.chunks(BATCH).map(Self::of).collect()
    }

    fn of(texts: &[&str]) -> Result<Self> {
        let json = serde_json::to_string(texts);
        let json = json.map_err(|error| Error::invalid("texts", "cannot be written").caused_by(error))?;
        Ok(Self { json, count: texts.len() as u64 })
    }

    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    /// Whether they are worth a transaction of their own, for which nobody else has to wait.
    pub(crate) fn is_bulk(&self) -> bool {
        self.count > SHARED
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}
