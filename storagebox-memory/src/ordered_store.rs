//! Ordered values: the newest stamp wins, and a delete leaves a tombstone.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::backend::OrderedRules;
use storagebox_core::{
    Cursor, Key, ListedValue, Maintained, OrderedOptions, OrderedStore, Page, Payload, Reset, Result, Stamp, Versioned,
    Written, async_trait,
};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::transaction::{Keyed, Open};

/// The values of one namespace, and the rules that all handles on them share.
#[derive(Debug)]
pub(crate) struct Values {
    settings: Settings,
    rules: OrderedRules,
    cells: Keyed<Key, Cell>,
}

/// A handle on the ordered values of a namespace.
#[derive(Debug)]
pub(crate) struct MemoryOrderedStore {
    values: Arc<Values>,
    /// The rules of `values`, with the clock skew with which this handle was opened.
    rules: OrderedRules,
}

/// The newest write of a key.
#[derive(Clone, Debug)]
struct Cell {
    stamp: Stamp,
    /// `None` for a tombstone.
    value: Option<Payload>,
    arrived: Time,
}

impl MemoryOrderedStore {
    pub(crate) fn new(values: Arc<Values>, options: OrderedOptions) -> Result<Self> {
        Ok(Self { values, rules: OrderedRules::of("memory", options)? })
    }

    fn write(&self, key: &Key, stamp: &Stamp, value: Option<&Payload>) -> Result<Written> {
        let mut cells = self.values.cells.to_change(key)?;
        let now = self.values.settings.now();
        let last = cells.get(key).map(|cell| (&cell.stamp, cell.value.as_ref().map(Payload::as_bytes)));
        if let Some(answer) = self.rules.write((stamp, value.map(Payload::as_bytes)), last, now.millis())? {
            return Ok(answer);
        }
        cells.insert(key.clone(), Cell { stamp: stamp.clone(), value: value.cloned(), arrived: now });
        Ok(Written::Applied)
    }
}

impl Values {
    pub(crate) fn new(settings: Settings, options: OrderedOptions) -> Result<Self> {
        Ok(Self { settings, rules: OrderedRules::of("memory", options)?, cells: Keyed::default() })
    }

    pub(crate) fn joined(&self, by: &Open) -> Self {
        Self { settings: self.settings.clone(), rules: self.rules, cells: self.cells.joined(by) }
    }

    /// Returns the options with which the namespace was created, as text (S-4).
    pub(crate) fn created(&self) -> String {
        self.rules.to_stored_text()
    }

    fn may_go(&self, cell: &Cell, age: Duration, now: Time) -> bool {
        cell.value.is_none()
            && cell.arrived.after(self.rules.purged(age)) <= now
            && self.rules.horizon(now.millis()).is_none_or(|horizon| cell.stamp.at < horizon)
    }

    fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let mut cells = self.cells.to_change(key)?;
        Ok(match cells.get(key) {
            None => Reset::Absent,
            Some(cell) if cell.stamp != *stamp => Reset::Stale { current: cell.stamp.clone() },
            Some(_) => {
                cells.remove(key);
                Reset::Reset
            }
        })
    }

    fn purge_up_to(&self, age: Duration, limit: usize) -> usize {
        let now = self.settings.now();
        self.cells.spend(limit, |cells, budget| {
            let mut used = 0;
            cells.retain(|_, cell| {
                let purge = used < budget && self.may_go(cell, age, now);
                used += usize::from(purge);
                !purge
            });
            used
        })
    }

    /// Deletes at most `budget` old tombstones, but none if the stamps are sequence numbers.
    pub(crate) fn maintain(&self, budget: usize) -> usize {
        if self.rules.is_timed() { self.purge_up_to(self.rules.tombstone_age(), budget) } else { 0 }
    }
}

impl Cell {
    fn live(&self) -> Option<Versioned> {
        self.value.clone().map(|value| Versioned { value, stamp: self.stamp.clone() })
    }
}

#[async_trait]
impl OrderedStore for MemoryOrderedStore {
    #[instrument(level = "trace", skip_all)]
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        self.write(key, stamp, Some(value))
    }

    #[instrument(level = "trace", skip_all)]
    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        self.write(key, stamp, None)
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        Ok(self.values.cells.to_read(key).get(key).and_then(Cell::live))
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let prefix = prefix.map_or("", Key::as_str);
        self.values.cells.page(cursor, limit, |key, cell| {
            let versioned = cell.live().filter(|_| key.as_str().starts_with(prefix))?;
            Some(ListedValue { key: key.clone(), versioned })
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        self.values.reset(key, stamp)
    }

    #[instrument(level = "trace", skip_all)]
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let deleted = self.values.purge_up_to(age, limit);
        Ok(Maintained { deleted: deleted as u64, more: deleted == limit })
    }
}
