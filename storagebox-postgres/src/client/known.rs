//! What a store says of itself: its version, its epoch and its memory.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::micros_of;
use storagebox_core::{Error, ErrorKind, Result, Retention};

use crate::error::read;

/// The version that this library works with.
pub(crate) const VERSION: i32 = 1;

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
        check(self.version)?;
        let epoch = self.epoch.ok_or_else(emptied)?;
        let memory = self.memory.map(|micros| Duration::from_micros(micros.unsigned_abs()));
        Ok(Known { epoch, memory: memory.map_or(Retention::Forever, Retention::For) })
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
        match memory.filter(|memory| micros_of(*memory) != micros_of(self.memory)) {
            None => Ok(()),
            Some(other) => {
                let kept = self.memory;
                let why = format_args!("the store was set up with {kept}, and cannot be opened with {other}");
                Err(Error::misconfigured("remember", why).on("postgres"))
            }
        }
    }
}

/// Judges the version that a namespace was opened with.
pub(super) fn check(version: i32) -> Result<()> {
    refuse_newer(version)?;
    if version == VERSION {
        return Ok(());
    }
    let why = format!("the schema is of version {version}, and this library needs {VERSION}");
    Err(Error::new(ErrorKind::NotSetUp, why).on("postgres"))
}

pub(crate) fn refuse_newer(version: i32) -> Result<()> {
    if version <= VERSION {
        return Ok(());
    }
    let what = format!("the schema's version {version}: this library knows up to {VERSION}, and it");
    Err(Error::unsupported(what, "a newer storagebox").on("postgres"))
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
