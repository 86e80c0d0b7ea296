//! The transaction of one call, and the time of the call.

use redb::WriteTransaction;
use std::cell::Cell;
use std::ops::Bound;

use redb::{
    AccessGuard, CommitError, Key, ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition, Value,
};
use storagebox_core::backend::StoreFormat;

use crate::error::Stepped;

const FORMAT: StoreFormat = StoreFormat::new(super::BACKEND, "file", 1);

/// The numbers of the store, by name: the version of the format, the latest time and the last number.
const NUMBERS: TableDefinition<&str, i64> = TableDefinition::new("numbers");
/// The entry of [`NUMBERS`] for the version of the file format.
const VERSION: &str = "version";
/// The entry of [`NUMBERS`] for the time of the last transaction. No transaction has an earlier time, even if the clock
/// is set back.
const LATEST: &str = "latest";
/// The entry of [`NUMBERS`] for the last version or fence. A new version or fence is always higher, even after the
/// record of the last one was deleted (D-5, D-7).
const LAST: &str = "last";

/// The transaction of a call that changes the store, and the time of the call.
pub(crate) struct Step {
    transaction: WriteTransaction,
    has_changed: Cell<bool>,
    pub(crate) now: i64,
}

/// The snapshot of a call that reads, and the time of the call.
pub(crate) struct Look {
    transaction: ReadTransaction,
    pub(crate) now: i64,
}

impl Step {
    pub(super) fn at(transaction: WriteTransaction, clock: i64) -> Stepped<Self> {
        let mut numbers = transaction.open_table(NUMBERS)?;
        let now = number(&numbers, LATEST)?.unwrap_or(clock).max(clock);
        numbers.insert(LATEST, now)?;
        drop(numbers);
        Ok(Self { transaction, has_changed: Cell::new(false), now })
    }

    pub(super) fn set_up(&self) -> Stepped<()> {
        let mut numbers = self.edit(NUMBERS)?;
        FORMAT.refuse_newer(number(&numbers, VERSION)?.unwrap_or_default())?;
        numbers.insert(VERSION, 1)?;
        Ok(())
    }

    /// Commits the changes and waits for the disk. Does nothing if nothing was changed.
    pub(super) fn commit(self) -> Result<(), CommitError> {
        if self.has_changed.get() { self.transaction.commit() } else { Ok(()) }
    }

    /// Opens a table for reading. Creates the table if it does not exist.
    pub(crate) fn table<K: Key, V: Value>(&self, table: TableDefinition<'_, K, V>) -> Stepped<Table<'_, K, V>> {
        Ok(self.transaction.open_table(table)?)
    }

    pub(crate) fn edit<K: Key, V: Value>(&self, table: TableDefinition<'_, K, V>) -> Stepped<Table<'_, K, V>> {
        self.has_changed.set(true);
        self.table(table)
    }

    /// Returns a number that was never returned before.
    pub(crate) fn next_number(&self) -> Stepped<u64> {
        let mut numbers = self.edit(NUMBERS)?;
        let next = number(&numbers, LAST)?.unwrap_or_default() + 1;
        numbers.insert(LAST, next)?;
        Ok(next.unsigned_abs())
    }

    /// Deletes at most `most` rows for which `is_over` returns true. Returns the number of deleted rows.
    pub(crate) fn delete<K: Key, V: Value>(
        &self,
        table: TableDefinition<'_, K, V>,
        most: usize,
        is_over: impl for<'f> FnMut(K::SelfType<'f>, V::SelfType<'f>) -> bool,
    ) -> Stepped<usize> {
        let mut table = self.edit(table)?;
        let mut deleted = 0;
        for gone in table.extract_if(is_over)?.take(most) {
            gone?;
            deleted += 1;
        }
        Ok(deleted)
    }
}

impl Look {
    pub(super) fn at(transaction: ReadTransaction, clock: i64) -> Stepped<Self> {
        let latest = number(&transaction.open_table(NUMBERS)?, LATEST)?;
        Ok(Self { transaction, now: latest.unwrap_or(clock).max(clock) })
    }

    pub(super) fn check_version(&self) -> Stepped<()> {
        let found = number(&self.table(NUMBERS)?, VERSION)?;
        Ok(FORMAT.check(found.unwrap_or_default())?)
    }

    pub(crate) fn table<K: Key, V: Value>(&self, table: TableDefinition<'_, K, V>) -> Stepped<ReadOnlyTable<K, V>> {
        Ok(self.transaction.open_table(table)?)
    }

    /// Returns the rows of a namespace from the key `first` on.
    pub(crate) fn rows<V: Value>(
        &self,
        table: TableDefinition<'_, (&'static str, &'static str), V>,
        name: &str,
        first: Bound<&str>,
    ) -> Stepped<impl Iterator<Item = Stepped<Found<V>>>> {
        let first = first.map(|key| (name, key));
        let rows = self.table(table)?.range::<(&str, &str)>((first, Bound::Unbounded))?;
        let of_name = rows.map_while(move |row| match row {
            Ok((key, row)) => {
                let (of, key) = key.value();
                (of == name).then(|| Ok((key.to_owned(), row)))
            }
            Err(error) => Some(Err(error.into())),
        });
        Ok(of_name)
    }
}

type Found<V> = (String, AccessGuard<'static, V>);

fn number(numbers: &impl ReadableTable<&'static str, i64>, name: &str) -> Stepped<Option<i64>> {
    Ok(numbers.get(name)?.map(|number| number.value()))
}
