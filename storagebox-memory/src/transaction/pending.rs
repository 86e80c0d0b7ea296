//! The values of entries from before open transactions changed them.

use std::collections::BTreeMap;

use storagebox_core::Result;

use super::open::{Open, Touched};

/// The entries that open transactions have reserved for a change, with their values from before the transactions.
#[derive(Debug)]
pub(crate) struct Pending<K, V>(BTreeMap<K, Before<V>>);

#[derive(Debug)]
struct Before<V> {
    owner: Open,
    value: V,
}

impl<K, V> Default for Pending<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone, V> Pending<K, V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// If another open transaction has changed the entry, returns that transaction and the value from before the
    /// change.
    pub(crate) fn of_another(&self, key: &K, by: Option<&Open>) -> Option<(&Open, &V)> {
        let before = self.0.get(key)?;
        let is_own = by.is_some_and(|by| by.is(&before.owner));
        (!is_own).then_some((&before.owner, &before.value))
    }

    pub(crate) fn of_others(&self, by: Option<&Open>) -> impl Iterator<Item = (&K, &Open, &V)> {
        self.0.keys().filter_map(move |key| self.of_another(key, by).map(|(owner, value)| (key, owner, value)))
    }

    /// Reserves the entry for the transaction `by`, and stores the value for a rollback. Returns `Contention` if
    /// another transaction has changed the entry. Outside any transaction, only checks for `Contention`.
    pub(crate) fn own(
        &mut self,
        key: &K,
        by: Option<&Open>,
        touched: impl FnOnce() -> Touched,
        before: impl FnOnce() -> V,
    ) -> Result<()> {
        if let Some((owner, _)) = self.of_another(key, by) {
            return Err(owner.refuse(by));
        }
        let Some(by) = by.filter(|_| !self.0.contains_key(key)) else { return Ok(()) };
        by.touch(touched())?;
        self.0.insert(key.clone(), Before { owner: by.clone(), value: before() });
        Ok(())
    }

    /// Removes the entries of a transaction, and returns their values from before the transaction.
    pub(crate) fn end(&mut self, transaction: &Open) -> Vec<(K, V)> {
        let ended = self.0.extract_if(.., |_, before| before.owner.is(transaction));
        ended.map(|(key, before)| (key, before.value)).collect()
    }
}
