//! What a store says of itself: its version, its epoch and its memory.

use std::hash::{BuildHasher as _, RandomState};

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::{StoreFormat, retention_of};
use storagebox_core::{Error, Result, Retention};

use crate::error::read;

/// The version that this library works with.
pub(crate) const VERSION: i32 = 1;

pub(crate) const FORMAT: StoreFormat = StoreFormat::new("postgres", "schema", VERSION as i64);

/// What a look at a schema found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) version: i32,
    epoch: Option<i64>,
    memory: Option<i64>,
}

impl Found {
    /// The columns of this answer, whatever else is in it.
    pub(crate) fn of(answer: &'static str, row: &PgRow) -> Result<Self> {
        Ok(Self {
            version: read(answer, row.try_get("version"))?,
            epoch: read(answer, row.try_get("epoch"))?,
            memory: read(answer, row.try_get("memory"))?,
        })
    }

    /// Refuses a schema that was there and knows nothing of itself any more.
    pub(crate) fn check_not_emptied(&self) -> Result<()> {
        if self.version > 0 && self.epoch.is_none() { Err(emptied()) } else { Ok(()) }
    }

    /// The store, if it is of this library's version.
    pub(crate) fn known(&self) -> Result<Known> {
        FORMAT.check(self.version.into())?;
        let epoch = self.epoch.ok_or_else(emptied)?;
        Ok(Known { epoch, memory: retention_of(self.memory) })
    }
}

fn emptied() -> Error {
    let why = "its table `store` is empty, so that nobody knows what was in it. Stop every program that uses it and find out what is \
         missing; then put a copy back, or drop the schema and run setup";
    Error::corrupt("the schema", why).on("postgres")
}

/// What a store is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Made by chance when the schema was made, so that one that was lost is not taken for its successor.
    pub(crate) epoch: i64,
    /// How long what has ended is remembered, by everybody.
    pub(crate) memory: Retention,
}

impl Known {
    /// Whether this is what was asked for, if anything was.
    pub(crate) fn check(&self, memory: Option<Retention>) -> Result<()> {
        FORMAT.check_memory(self.memory, memory)
    }
}

/// An epoch that no store and no namespace had before. It is of the system's randomness: a program may seed its own.
pub(crate) fn new_epoch() -> i64 {
    RandomState::new().hash_one(()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program may seed them for results that can be repeated.
    #[test]
    fn an_epoch_is_not_of_the_programs_random_numbers() {
        let epoch = || {
            fastrand::seed(42);
            new_epoch()
        };
        assert_ne!(epoch(), epoch());
    }
}
