//! The version, the epoch and the memory of a store.

use std::hash::{BuildHasher as _, RandomState};

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::{StoreFormat, retention_of};
use storagebox_core::{Error, ErrorKind, Result, Retention};

use crate::error::read;

/// The version of the schema that this library works with.
pub(crate) const VERSION: i32 = 3;

pub(crate) const FORMAT: StoreFormat = StoreFormat::new("postgres", "schema", VERSION as i64);

const THE_LOOK: &str = "the check of the schema";

#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) version: i32,
    epoch: Option<i64>,
    memory: Option<i64>,
    /// A table or function of this version that does not exist.
    missing: Option<String>,
    /// A table or function that the session's role has no right to use.
    denied: Option<String>,
    /// A table without a unique index.
    keyless: Option<String>,
    /// A table with a trigger or rule that may drop a write without an error.
    diverted: Option<String>,
}

impl Found {
    /// Reads the version, the epoch and the memory from a row. `answer` is the name of the row in errors.
    pub(crate) fn of(answer: &'static str, row: &PgRow) -> Result<Self> {
        Ok(Self {
            version: read(answer, row.try_get("version"))?,
            epoch: read(answer, row.try_get("epoch"))?,
            memory: read(answer, row.try_get("memory"))?,
            missing: None,
            denied: None,
            keyless: None,
            diverted: None,
        })
    }

    pub(crate) fn of_look(row: &PgRow) -> Result<Self> {
        let name = |column: &str| read::<Option<String>>(THE_LOOK, row.try_get(column));
        let (missing, denied) = (name("missing")?, name("denied")?);
        let (keyless, diverted) = (name("keyless")?, name("diverted")?);
        Ok(Self { missing, denied, keyless, diverted, ..Self::of(THE_LOOK, row)? })
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.version == VERSION && self.missing.is_none()
    }

    pub(crate) fn check_rights(&self) -> Result<()> {
        let Some(name) = &self.denied else { return Ok(()) };
        let why =
            format!("the role, or the owner of the schema, lacks a right on `{name}`, or row security is forced on it");
        Err(Error::new(ErrorKind::Denied, why).on("postgres"))
    }

    pub(crate) fn check_parts(&self) -> Result<()> {
        let Some(name) = &self.missing else { return Ok(()) };
        let why = format!("`{name}` does not exist in the schema; setup creates missing functions, not missing tables");
        Err(Error::new(ErrorKind::NotSetUp, why).on("postgres"))
    }

    /// Refuses a table without a unique index, or with a trigger or rule that may drop a write. No statement would fail
    /// because of these faults.
    pub(crate) fn check_tables(&self) -> Result<()> {
        if let Some(name) = &self.keyless {
            let why = "it has no unique index; create the index as in a new schema, or restore a complete copy";
            return Err(Error::corrupt(format_args!("the table `{name}`"), why).on("postgres"));
        }
        let Some(name) = &self.diverted else { return Ok(()) };
        let why = format!(
            "a BEFORE ROW trigger or a rule can discard a write to `{name}` without an error; use an AFTER trigger"
        );
        Err(Error::new(ErrorKind::Misconfigured, why).on("postgres"))
    }

    pub(crate) fn check_not_emptied(&self) -> Result<()> {
        if self.version > 0 && self.epoch.is_none() { Err(emptied()) } else { Ok(()) }
    }

    /// Returns an error if the schema has another version, or if its table `store` is empty.
    pub(crate) fn info(&self) -> Result<StoreInfo> {
        FORMAT.check(self.version.into())?;
        let epoch = self.epoch.ok_or_else(emptied)?;
        Ok(StoreInfo { epoch, memory: retention_of(self.memory) })
    }
}

fn emptied() -> Error {
    let why = "its table `store` is empty, so it is unknown which data was lost. Stop every program that uses it and \
        find out what is missing; then restore a copy, or drop the schema and run setup";
    Error::corrupt("the schema", why).on("postgres")
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreInfo {
    /// A random number that distinguishes this schema from a schema that replaces it.
    pub(crate) epoch: i64,
    /// How long all clients remember ended operations.
    pub(crate) memory: Retention,
}

impl StoreInfo {
    /// Checks that the store has the requested `remember` setting. `None` accepts any setting.
    pub(crate) fn check(&self, memory: Option<Retention>) -> Result<()> {
        FORMAT.check_memory(self.memory, memory)
    }
}

/// Creates a random epoch for a store or a namespace from the system's random numbers, which no program can seed.
pub(crate) fn new_epoch() -> i64 {
    RandomState::new().hash_one(()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program may seed `fastrand` to make its results repeatable.
    #[test]
    fn new_epoch_ignores_the_random_seed_of_the_program() {
        let epoch = || {
            fastrand::seed(42);
            new_epoch()
        };
        assert_ne!(epoch(), epoch());
    }
}
