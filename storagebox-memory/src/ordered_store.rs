//! Ordered values: the newest stamp wins, a delete leaves a tombstone.

use std::cmp::Ordering;
use std::collections::BTreeMap;
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
use crate::striped::Striped;

/// The values of one name, with the rules that all its handles share.
#[derive(Debug)]
pub(crate) struct Values {
    settings: Settings,
    rules: OrderedRules,
    cells: Striped<BTreeMap<Key, Cell>>,
}

/// A handle, with its own skew.
#[derive(Debug)]
pub(crate) struct MemoryOrderedStore {
    values: Arc<Values>,
    rules: OrderedRules,
}

/// The newest write of a key.
#[derive(Debug)]
struct Cell {
    stamp: Stamp,
    content: Content,
    arrived: Time,
}

/// What a write leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Value(Payload),
    Tombstone,
}

impl Content {
    /// A delete is over a put of the same stamp (O-2).
    fn rank(&self) -> u8 {
        u8::from(*self == Self::Tombstone)
    }
}

impl MemoryOrderedStore {
    pub(crate) fn new(values: Arc<Values>, options: OrderedOptions) -> Result<Self> {
        Ok(Self { values, rules: OrderedRules::of("memory", options)? })
    }

    fn write(&self, key: &Key, stamp: &Stamp, content: Content) -> Result<Written> {
        let mut cells = self.values.cells.lock_for(key);
        let now = self.values.settings.now();
        if let Some(refused) = self.rules.refused(stamp, now.millis()) {
            return Err(refused);
        }
        if let Some(cell) = cells.get(key) {
            match (stamp, content.rank()).cmp(&(&cell.stamp, cell.content.rank())) {
                Ordering::Greater => {}
                Ordering::Less => {
                    return Ok(Written::Stale { current: cell.stamp.clone() });
                }
                Ordering::Equal if content == cell.content => return Ok(Written::Duplicate),
                Ordering::Equal => return Ok(Written::Mismatch),
            }
        }
        if let Some(horizon) = self.values.horizon(now).filter(|horizon| stamp.at < *horizon) {
            return Ok(Written::TooOld { horizon });
        }
        cells.insert(key.clone(), Cell { stamp: stamp.clone(), content, arrived: now });
        Ok(Written::Applied)
    }
}

impl Values {
    pub(crate) fn new(settings: Settings, options: OrderedOptions) -> Result<Self> {
        Ok(Self { settings, rules: OrderedRules::of("memory", options)?, cells: Striped::default() })
    }

    /// How the namespace was created (S-4).
    pub(crate) fn created(&self) -> String {
        self.rules.in_words()
    }

    /// The purge horizon, in time mode: no older stamp is accepted, so nothing older need be remembered (O-3).
    fn horizon(&self, now: Time) -> Option<i64> {
        let age = i64::try_from(self.rules.tombstone_age().as_millis()).unwrap_or(i64::MAX);
        self.rules.is_timed().then(|| now.millis().saturating_sub(age))
    }

    fn may_go(&self, cell: &Cell, age: Duration, now: Time) -> bool {
        cell.content == Content::Tombstone
            && cell.arrived.after(self.rules.purged(age)) <= now
            && self.horizon(now).is_none_or(|horizon| cell.stamp.at < horizon)
    }

    fn reset(&self, key: &Key, stamp: &Stamp) -> Reset {
        let mut cells = self.cells.lock_for(key);
        match cells.get(key) {
            None => Reset::Absent,
            Some(cell) if cell.stamp != *stamp => Reset::Stale { current: cell.stamp.clone() },
            Some(_) => {
                cells.remove(key);
                Reset::Reset
            }
        }
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

    /// Purges what needs no explicit call, at most `budget` tombstones.
    pub(crate) fn maintain(&self, budget: usize) -> usize {
        if self.rules.is_timed() { self.purge_up_to(self.rules.tombstone_age(), budget) } else { 0 }
    }
}

impl Cell {
    fn live(&self) -> Option<Versioned> {
        match &self.content {
            Content::Value(value) => Some(Versioned { value: value.clone(), stamp: self.stamp.clone() }),
            Content::Tombstone => None,
        }
    }
}

#[async_trait]
impl OrderedStore for MemoryOrderedStore {
    #[instrument(level = "trace", skip_all)]
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        self.write(key, stamp, Content::Value(value.clone()))
    }

    #[instrument(level = "trace", skip_all)]
    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        self.write(key, stamp, Content::Tombstone)
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        Ok(self.values.cells.lock_for(key).get(key).and_then(Cell::live))
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
        Ok(self.values.reset(key, stamp))
    }

    #[instrument(level = "trace", skip_all)]
    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let deleted = self.values.purge_up_to(age, limit);
        Ok(Maintained { deleted: deleted as u64, more: deleted == limit })
    }
}
