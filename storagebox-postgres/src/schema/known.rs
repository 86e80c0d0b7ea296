//! What a store says of itself: its version, its epoch and its memory.

use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::micros_of;
use storagebox_core::{Error, Result, Retention};

use crate::error::read;

/// What a look at a schema found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(super) version: i32,
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
    pub(super) fn check_not_emptied(&self) -> Result<()> {
        if self.version > 0 && self.epoch.is_none() { Err(emptied()) } else { Ok(()) }
    }

    /// The store, if it is of this library's version.
    pub(crate) fn known(&self) -> Result<Known> {
        super::check(self.version)?;
        let epoch = self.epoch.ok_or_else(emptied)?;
        let memory = self.memory.map(|micros| Duration::from_micros(micros.unsigned_abs()));
        Ok(Known { epoch, memory: memory.map_or(Retention::Forever, Retention::For) })
    }
}

fn emptied() -> Error {
    let why = "its table `store` is empty, so that nobody knows what was in it. Stop whoever works with it and find out what is \
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
                Err(Error::misconfigured("memory", why).on("postgres"))
            }
        }
    }
}
