//! Striped maps whose entries a transaction can change.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard};

use storagebox_core::{Cursor, Page, Result};

use super::open::{End, Ending, Open, Touched};
use super::pending::Pending;
use crate::striped::{Striped, page};

/// A map with several locks, for the calls of one transaction or for calls outside any transaction. These calls do not
/// see the changes of other open transactions.
#[derive(Debug)]
pub(crate) struct Keyed<K, V> {
    stripes: Arc<Striped<Entries<K, V>>>,
    by: Option<Open>,
}

#[derive(Debug)]
pub(crate) struct Entries<K, V> {
    map: BTreeMap<K, V>,
    pending: Pending<K, Option<V>>,
}

/// The map of a stripe, locked for the entry of a single key.
pub(crate) enum Entry<'a, K, V> {
    Current(MutexGuard<'a, Entries<K, V>>),
    /// A copy of the entry as it was before an open transaction changed the entry. Only readers outside that
    /// transaction get the copy. Changes of the copy are lost.
    Before(BTreeMap<K, V>),
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self { map: BTreeMap::new(), pending: Pending::default() }
    }
}

impl<K, V> Default for Keyed<K, V> {
    fn default() -> Self {
        Self { stripes: Arc::default(), by: None }
    }
}

impl<K, V> Keyed<K, V> {
    pub(crate) fn joined(&self, by: &Open) -> Self {
        Self { stripes: Arc::clone(&self.stripes), by: Some(by.clone()) }
    }

    pub(crate) fn transaction(&self) -> Option<&Open> {
        self.by.as_ref()
    }
}

impl<K, V> Keyed<K, V>
where
    K: Ord + Clone + Hash + Send + 'static,
    V: Clone + Send + 'static,
{
    /// Locks the entry of the key for a change. Returns `Contention` if another transaction has changed the entry.
    pub(crate) fn to_change(&self, key: &K) -> Result<Entry<'_, K, V>> {
        let stripe = Striped::<()>::stripe_of(self.stripes.hash(key));
        let mut entries = self.stripes.lock(stripe);
        if self.by.is_some() || !entries.pending.is_empty() {
            let Entries { map, pending } = &mut *entries;
            let touched = || Touched::stripe(&self.stripes, stripe);
            pending.own(key, self.by.as_ref(), touched, || map.get(key).cloned())?;
        }
        Ok(Entry::Current(entries))
    }

    pub(crate) fn to_read(&self, key: &K) -> Entry<'_, K, V> {
        let entries = self.stripes.lock_for(key);
        match entries.pending.of_another(key, self.by.as_ref()) {
            None => Entry::Current(entries),
            Some((_, before)) => Entry::Before(before.iter().map(|value| (key.clone(), value.clone())).collect()),
        }
    }

    /// Calls `visit` on each stripe that no open transaction has changed. Returns the used part of the budget.
    pub(crate) fn spend(&self, budget: usize, mut visit: impl FnMut(&mut BTreeMap<K, V>, usize) -> usize) -> usize {
        self.stripes.spend(budget, |entries, budget| match entries.pending.is_empty() {
            true => visit(&mut entries.map, budget),
            false => 0,
        })
    }

    /// Returns a page of entries in the order of stripe and key. Entries that stay in the map are listed exactly once.
    pub(crate) fn page<E>(
        &self,
        cursor: Option<&Cursor>,
        limit: usize,
        show: impl FnMut(&K, &V) -> Option<E>,
    ) -> Result<Page<E>>
    where
        K: AsRef<str> + Borrow<str>,
    {
        page(&self.stripes, cursor, limit, |entries| entries.seen_by(self.by.as_ref()), show)
    }
}

impl<K: Ord + Clone, V: Clone> Entries<K, V> {
    fn seen_by(&self, by: Option<&Open>) -> Cow<'_, BTreeMap<K, V>> {
        if self.pending.is_empty() {
            return Cow::Borrowed(&self.map);
        }
        let mut seen = self.map.clone();
        for (key, _, before) in self.pending.of_others(by) {
            put(&mut seen, key.clone(), before.clone());
        }
        Cow::Owned(seen)
    }
}

impl<K: Ord + Clone, V> Ending for Entries<K, V> {
    const RANK: u8 = 0;

    fn end(&mut self, transaction: &Open, how: End) {
        for (key, before) in self.pending.end(transaction) {
            if how == End::Rollback {
                put(&mut self.map, key, before);
            }
        }
    }
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
}

impl<K, V> Deref for Entry<'_, K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Current(entries) => &entries.map,
            Self::Before(before) => before,
        }
    }
}

impl<K, V> DerefMut for Entry<'_, K, V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Current(entries) => &mut entries.map,
            Self::Before(before) => before,
        }
    }
}

/// Calls `step` on each entry of a batch. Within a transaction, calls `own` on all entries first. Returns
/// `OutcomeUnknown` if a step fails after another step succeeded.
pub(crate) fn each_of<T, I: Iterator<Item = T>>(
    by: Option<&Open>,
    batch: impl Fn() -> I,
    own: impl Fn(T) -> Result<()>,
    mut step: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    // A call that must wait for another transaction is repeated, so it must have changed nothing.
    if by.is_some() {
        batch().try_for_each(own)?;
    }
    for (made, entry) in batch().enumerate() {
        step(entry).map_err(|error| if made == 0 { error } else { error.after_unresolved() })?;
    }
    Ok(())
}
