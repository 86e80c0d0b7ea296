//! The version, the epoch and the memory of a store.

use std::time::Duration;

use storagebox_core::backend::{StoreFormat, micros_of};
use storagebox_core::{Error, ErrorKind, Result, Retention};

use super::Answer;

/// The version of the store's format that this library reads and writes.
pub(crate) const VERSION: i64 = 1;

const FORMAT: StoreFormat = StoreFormat::new("redis", "store", VERSION);

/// The version, epoch and memory of a store, with which the answers of the store's scripts begin.
#[derive(Clone, Debug)]
pub(crate) struct StoreInfo {
    /// A random text that `setup` wrote, different for each store.
    pub(crate) epoch: String,
    pub(crate) memory: Retention,
}

const FOREVER: &str = "forever";

pub(crate) fn to_stored_text(memory: Retention) -> String {
    micros_of(memory).map_or(FOREVER.to_owned(), |micros| micros.to_string())
}

fn memory(words: &str) -> Option<Retention> {
    match words {
        FOREVER => Some(Retention::Forever),
        _ => words.parse().ok().map(|micros| Retention::For(Duration::from_micros(micros))),
    }
}

impl StoreInfo {
    pub(crate) fn of(answer: &Answer) -> Result<Self> {
        check_text(answer.text(0)?)?;
        match (answer.text(1)?, memory(answer.text(2)?)) {
            (epoch, Some(memory)) if !epoch.is_empty() => Ok(Self { epoch: epoch.to_owned(), memory }),
            _ => Err(Error::corrupt("the store", "it has no epoch, or no valid `remember`").on("redis")),
        }
    }

    /// Returns an error if the caller asked for a memory and the store has another memory.
    pub(crate) fn check(&self, memory: Option<Retention>) -> Result<()> {
        FORMAT.check_memory(self.memory, memory)
    }
}

/// Checks the stored version, which is empty if there is no store.
fn check_text(version: &str) -> Result<()> {
    if version.is_empty() {
        return Err(Error::new(ErrorKind::NotSetUp, "there is no store with this prefix").on("redis"));
    }
    version.parse().map_or_else(
        |_| Err(Error::corrupt("the store's version", "it is not a number").on("redis")),
        |found| FORMAT.check(found),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fuzz;
    use crate::schema::LOOK;

    #[test]
    fn fuzz_store_description_is_read_or_refused() {
        let known: &[&[&str]] = &[&["1", "epoch", "forever"], &["1", "epoch", "60000000"], &["2", "", ""], &[""]];
        let read = |answer: &Answer| match StoreInfo::of(answer) {
            Err(error) if [ErrorKind::NotSetUp, ErrorKind::Unsupported].contains(&error.kind()) => Ok(()),
            known => known.map(drop),
        };
        fuzz(&LOOK, known, &[read]);
    }
}
