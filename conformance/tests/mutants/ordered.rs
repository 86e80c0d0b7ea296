//! Broken ordered stores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::{
    Clock, Cursor, Key, ListedValue, Maintained, ManualClock, OrderedOptions, OrderedStore, Page, Payload, Reset,
    Result, Stamp, Stamping, Versioned, Written, async_trait,
};

use crate::steps::{Renamed, between_steps, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderedMistake {
    LastWins,
    ChecksThenWrites,
    DeleteIgnoresTheStamp,
    MismatchAccepted,
    TieRejected,
    TieAccepted,
    DeleteUnderPut,
    FloatStamps,
    UnsignedStamps,
    PhysicalDelete,
    TombstoneShowsTheOld,
    ListShowsTombstones,
    PurgesEarly,
    NoPurgeHorizon,
    ClockForHorizon,
    SkewIgnored,
    NoSkewByDefault,
    SequencesByTheClock,
    ResetsAnyStamp,
    ResetSparesTombstones,
    ChecksThenResets,
    ListReadsOnce,
}

use OrderedMistake as Mistake;

/// The number of rows that the store reads in one step.
const READ: usize = 500;

#[derive(Default)]
pub(crate) struct OrderedState {
    anew: Renamed,
    last: Mutex<HashMap<Key, Versioned>>,
    deleted: Mutex<HashMap<Key, Duration>>,
    /// The caller's stamp for each stamp in the inner store.
    stamps: Mutex<HashMap<i64, i64>>,
}

pub(crate) struct BrokenOrdered {
    pub(crate) inner: Arc<dyn OrderedStore>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<OrderedState>,
    /// The options that the caller asked for.
    pub(crate) options: OrderedOptions,
    pub(crate) clock: ManualClock,
}

#[derive(Clone, Copy)]
enum Content<'a> {
    Value(&'a Payload),
    Tombstone,
}

/// Returns the options with which the inner store opens the namespace.
pub(crate) fn options_below(mistake: Option<Mistake>, options: OrderedOptions) -> OrderedOptions {
    let stamping = match (mistake, options.stamping) {
        (Some(Mistake::NoPurgeHorizon), Stamping::Time { .. }) => Stamping::Sequence,
        (Some(Mistake::NoSkewByDefault), Stamping::Time { max_skew: Some(OrderedOptions::MAX_SKEW) })
        | (Some(Mistake::SkewIgnored), Stamping::Time { .. })
        | (Some(Mistake::SequencesByTheClock), Stamping::Sequence) => Stamping::Time { max_skew: None },
        (_, stamping) => stamping,
    };
    OrderedOptions { stamping, ..options }
}

impl BrokenOrdered {
    /// Returns the name of this key in the inner store.
    fn below(&self, key: &Key) -> Result<Key> {
        Key::new(self.state.anew.below(key.as_str()))
    }

    /// Returns the stamp that the inner store gets instead of this stamp.
    fn stamp_below(&self, stamp: &Stamp) -> Stamp {
        let at = match self.mistake {
            Some(Mistake::FloatStamps) => (stamp.at as f64) as i64,
            // Without a sign, the bits of a negative number are greater than those of every positive one.
            Some(Mistake::UnsignedStamps) if stamp.at < 0 => i64::MAX.saturating_add(stamp.at),
            _ => stamp.at,
        };
        lock(&self.state.stamps).insert(at, stamp.at);
        Stamp::new(at, stamp.writer.clone())
    }

    fn stamp_above(&self, stamp: Stamp) -> Stamp {
        let at = lock(&self.state.stamps).get(&stamp.at).copied();
        Stamp::new(at.unwrap_or(stamp.at), stamp.writer)
    }

    fn versioned_above(&self, versioned: Versioned) -> Versioned {
        Versioned { stamp: self.stamp_above(versioned.stamp), ..versioned }
    }

    async fn write_below(&self, key: &Key, content: Content<'_>, stamp: &Stamp) -> Result<Written> {
        let below = self.below(key)?;
        match content {
            Content::Value(value) => self.inner.put(&below, value, stamp).await,
            Content::Tombstone => self.inner.delete(&below, stamp).await,
        }
    }

    /// Overwrites the key, whatever its stamp is.
    async fn overwrite(&self, key: &Key, content: Content<'_>, stamp: &Stamp) -> Result<Written> {
        self.state.anew.begin_anew(key.as_str());
        self.write_below(key, content, stamp).await
    }

    /// Reads and compares the value, and writes in a separate step.
    async fn check_then_write(&self, key: &Key, content: Content<'_>, stamp: &Stamp) -> Result<Written> {
        let seen = self.inner.get(&self.below(key)?).await?;
        between_steps().await;
        let written = self.write_below(key, content, stamp).await?;
        let seemed_newer = seen.is_none_or(|seen| seen.stamp < *stamp);
        match written {
            Written::Stale { current } if seemed_newer && self.came_between(key, &current).await? => {
                self.overwrite(key, content, stamp).await
            }
            other => Ok(other),
        }
    }

    /// Returns whether the key has a value with the stamp `current`.
    async fn came_between(&self, key: &Key, current: &Stamp) -> Result<bool> {
        let now = self.inner.get(&self.below(key)?).await?;
        Ok(now.is_some_and(|now| now.stamp == *current))
    }

    async fn spoil(&self, key: &Key, content: Content<'_>, stamp: &Stamp, written: Written) -> Result<Written> {
        match (self.mistake, written, content) {
            (Some(Mistake::LastWins), Written::Stale { .. }, _) => self.overwrite(key, content, stamp).await,
            (Some(Mistake::TieAccepted), Written::Stale { current }, _) if current.at == stamp.at => {
                self.overwrite(key, content, stamp).await
            }
            (Some(Mistake::DeleteIgnoresTheStamp), Written::Stale { current }, Content::Tombstone) => {
                let _ = self.write_below(key, content, &current).await?;
                Ok(Written::Applied)
            }
            (Some(Mistake::MismatchAccepted), Written::Mismatch, _) => Ok(Written::Duplicate),
            (Some(Mistake::PhysicalDelete), Written::Applied, Content::Tombstone) => {
                self.state.anew.begin_anew(key.as_str());
                Ok(Written::Applied)
            }
            (_, written, _) => Ok(written),
        }
    }

    /// Returns the refusal with which the mutant answers instead of writing, or `None` if the mutant writes.
    async fn refused(&self, key: &Key, content: Content<'_>, stamp: &Stamp) -> Result<Option<Written>> {
        let Some(present) = self.inner.get(&self.below(key)?).await? else {
            return Ok(None);
        };
        let current = present.stamp;
        Ok(match (self.mistake, content) {
            (Some(Mistake::TieRejected), _) if current.at == stamp.at && current.writer < stamp.writer => {
                Some(Written::Stale { current })
            }
            (Some(Mistake::DeleteUnderPut), Content::Tombstone) if current == *stamp => {
                Some(Written::Stale { current })
            }
            _ => None,
        })
    }

    async fn write(&self, key: &Key, content: Content<'_>, stamp: &Stamp) -> Result<Written> {
        let stamp = &self.stamp_below(stamp);
        if let Some(refused) = self.refused(key, content, stamp).await? {
            return Ok(refused);
        }
        let written = if self.mistake == Some(Mistake::ChecksThenWrites) {
            self.check_then_write(key, content, stamp).await?
        } else {
            self.write_below(key, content, stamp).await?
        };
        let written = self.spoil(key, content, stamp, written).await?;
        if written == Written::Applied {
            self.remember(key, content, stamp);
        }
        Ok(match written {
            Written::Stale { current } => Written::Stale { current: self.stamp_above(current) },
            Written::TooOld { horizon } if self.mistake == Some(Mistake::ClockForHorizon) => {
                let age = i64::try_from(self.options.tombstone_age.as_millis()).unwrap_or(i64::MAX);
                Written::TooOld { horizon: horizon.saturating_add(age) }
            }
            other => other,
        })
    }

    fn remember(&self, key: &Key, content: Content<'_>, stamp: &Stamp) {
        match content {
            Content::Value(value) => {
                let (value, stamp) = (value.clone(), stamp.clone());
                lock(&self.state.deleted).remove(key);
                lock(&self.state.last).insert(key.clone(), Versioned { value, stamp });
            }
            Content::Tombstone => {
                lock(&self.state.deleted).insert(key.clone(), self.clock.now());
            }
        }
    }

    fn last(&self, key: &Key) -> Option<Versioned> {
        lock(&self.state.last).get(key).cloned()
    }

    fn with_tombstones(&self, prefix: Option<&Key>, entries: &mut Vec<ListedValue>) {
        let deleted: Vec<_> = lock(&self.state.deleted).keys().cloned().collect();
        let prefix = prefix.map_or("", Key::as_str);
        let shown = deleted.into_iter().filter(|key| key.as_str().starts_with(prefix));
        entries.extend(shown.filter_map(|key| {
            let versioned = self.last(&key)?;
            Some(ListedValue { key, versioned })
        }));
    }

    /// Removes tombstones of at least this age, even if the namespace keeps tombstones for longer.
    fn purge_early(&self, age: Duration) -> u64 {
        let now = self.clock.now();
        let purged: Vec<_> =
            lock(&self.state.deleted).extract_if(|_, since| since.saturating_add(age) <= now).collect();
        for (key, _) in &purged {
            self.state.anew.begin_anew(key.as_str());
        }
        purged.len() as u64
    }

    /// Removes the key, whatever its stamp is.
    fn forget(&self, key: &Key) -> Reset {
        self.state.anew.begin_anew(key.as_str());
        Reset::Reset
    }

    /// Reads and compares the value, and removes the key in a separate step.
    async fn check_then_reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let seen = self.inner.get(&self.below(key)?).await?;
        between_steps().await;
        match seen {
            Some(seen) if seen.stamp == *stamp => Ok(self.forget(key)),
            _ => self.inner.reset(&self.below(key)?, stamp).await,
        }
    }

    async fn reset_below(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let is_shown = self.inner.get(&self.below(key)?).await?.is_some();
        match self.mistake {
            Some(Mistake::ResetsAnyStamp) if is_shown => Ok(self.forget(key)),
            Some(Mistake::ResetSparesTombstones) if !is_shown => Ok(Reset::Absent),
            Some(Mistake::ChecksThenResets) => self.check_then_reset(key, stamp).await,
            _ => self.inner.reset(&self.below(key)?, stamp).await,
        }
    }

    fn listed_above(&self, entry: ListedValue) -> Option<ListedValue> {
        let key = Key::new(self.state.anew.above(entry.key.as_str())).ok()?;
        let is_present = self.below(&key).ok()? == entry.key;
        is_present.then(|| ListedValue { key, versioned: self.versioned_above(entry.versioned) })
    }
}

#[async_trait]
impl OrderedStore for BrokenOrdered {
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        self.write(key, Content::Value(value), stamp).await
    }

    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        self.write(key, Content::Tombstone, stamp).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        let found = self.inner.get(&self.below(key)?).await?;
        let found = match self.mistake {
            Some(Mistake::TombstoneShowsTheOld) => found.or_else(|| self.last(key)),
            _ => found,
        };
        Ok(found.map(|versioned| self.versioned_above(versioned)))
    }

    async fn list(&self, prefix: Option<&Key>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let mut page = self.inner.list(prefix, cursor, limit).await?;
        if self.mistake == Some(Mistake::ListReadsOnce) && page.entries.len() > READ {
            // Treats a page that is not full as the last page.
            page = Page { next: None, ..self.inner.list(prefix, cursor, READ).await? };
        }
        let entries = page.entries.into_iter();
        let mut entries: Vec<_> = entries.filter_map(|entry| self.listed_above(entry)).collect();
        if self.mistake == Some(Mistake::ListShowsTombstones) && page.next.is_none() {
            self.with_tombstones(prefix, &mut entries);
            entries.truncate(limit);
        }
        Ok(Page { entries, next: page.next })
    }

    async fn reset(&self, key: &Key, stamp: &Stamp) -> Result<Reset> {
        let reset = self.reset_below(key, &self.stamp_below(stamp)).await?;
        if reset == Reset::Reset {
            lock(&self.state.deleted).remove(key);
            lock(&self.state.last).remove(key);
        }
        Ok(match reset {
            Reset::Stale { current } => Reset::Stale { current: self.stamp_above(current) },
            other => other,
        })
    }

    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        let age = match (self.mistake, self.options.stamping) {
            (Some(Mistake::NoPurgeHorizon), Stamping::Time { .. }) => age.max(self.options.tombstone_age),
            _ => age,
        };
        let mut purged = self.inner.purge(age, limit).await?;
        if self.mistake == Some(Mistake::PurgesEarly) {
            purged.deleted += self.purge_early(age);
        }
        Ok(purged)
    }
}
