//! Changes that take too many steps, and operations that are remembered wrongly.

use storagebox_core::{Change, Counted, Key, OpId, Result};

use super::BrokenCounter;
use crate::steps::{between_steps, lock};

impl BrokenCounter {
    /// Reads the value, and writes the value plus the delta in a separate step. Changes between the steps are lost.
    pub(super) async fn read_modify_write(&self, key: &Key, change: &Change) -> Result<Counted> {
        let before = self.inner.value(key).await?;
        between_steps().await;
        let counted = self.inner.apply(key, change).await?;
        let Counted::Applied { value: Some(after) } = counted else {
            return Ok(counted);
        };
        let read = before.wrapping_add(change.delta);
        if after != read {
            let lost = read.wrapping_sub(after);
            let _ = self.inner.apply(key, &Change::new(self.own_op()?, lost)).await?;
        }
        Ok(Counted::Applied { value: Some(read) })
    }

    /// Reads the value and checks the bounds, and applies the change in a separate step.
    pub(super) async fn test_then_add(&self, key: &Key, change: &Change) -> Result<Counted> {
        let value = self.inner.value(key).await?.saturating_add(change.delta);
        if !change.bounds.contains(value) {
            return self.inner.apply(key, change).await;
        }
        between_steps().await;
        self.inner.apply(key, &Change::new(change.op.clone(), change.delta)).await
    }

    /// Applies and counts the change, or returns `Full` for a key in `stuck`.
    pub(super) async fn apply_counting_places(&self, capacity: usize, key: &Key, change: &Change) -> Result<Counted> {
        let operation = (key.clone(), change.op.clone());
        let is_known = lock(&self.state.applied).contains(&operation);
        if lock(&self.state.stuck).contains(key) && !is_known {
            return Ok(Counted::Full);
        }
        let counted = self.inner.apply(key, change).await?;
        if matches!(counted, Counted::Applied { .. }) {
            lock(&self.state.applied).insert(operation);
            self.count_place(capacity, key);
        }
        Ok(counted)
    }

    /// Counts an applied change of the key. If the count exceeds `capacity`, the count restarts at 1, and all other
    /// full keys become stuck.
    fn count_place(&self, capacity: usize, key: &Key) {
        let mut places = lock(&self.state.places);
        let taken = places.entry(key.clone()).or_default();
        *taken += 1;
        if *taken > capacity {
            *taken = 1;
            let full = places.iter().filter(|(other, taken)| *other != key && **taken >= capacity);
            lock(&self.state.stuck).extend(full.map(|(other, _)| other.clone()));
        }
    }

    fn recent(&self, key: &Key, op: &OpId) -> Option<OpId> {
        let recent = lock(&self.state.recent);
        let known = recent.get(key)?.iter().find(|(asked, _)| asked == op);
        known.map(|(_, below)| below.clone())
    }

    /// Returns the operation id in the inner counter: a new id if the operation was applied and forgotten.
    pub(super) fn remembered(&self, key: &Key, op: &OpId) -> Result<OpId> {
        let applied = lock(&self.state.applied).contains(&(key.clone(), op.clone()));
        match self.recent(key, op) {
            Some(below) => Ok(below),
            None if applied => self.own_op(),
            None => Ok(op.clone()),
        }
    }

    pub(super) async fn apply_remembering(&self, last: usize, key: &Key, change: &Change) -> Result<Counted> {
        let op = self.remembered(key, &change.op)?;
        let below = Change { op: op.clone(), ..change.clone() };
        let counted = self.inner.apply(key, &below).await?;
        if matches!(counted, Counted::Applied { .. }) {
            lock(&self.state.applied).insert((key.clone(), change.op.clone()));
            let mut recent = lock(&self.state.recent);
            let ops = recent.entry(key.clone()).or_default();
            ops.push_back((change.op.clone(), op));
            if ops.len() > last {
                ops.pop_front();
            }
        }
        Ok(counted)
    }

    pub(super) async fn apply_the_overflow(&self, key: &Key, change: &Change, value: i64) -> Result<Counted> {
        let _ = self.inner.apply(key, &Change::new(change.op.clone(), 0)).await?;
        self.set(key, value).await?;
        Ok(Counted::Applied { value: Some(value) })
    }

    pub(super) async fn apply_for_all_keys(&self, key: &Key, change: &Change) -> Result<Counted> {
        let first = lock(&self.state.op_keys).entry(change.op.clone()).or_insert_with(|| key.clone()).clone();
        if first == *key {
            return self.inner.apply(key, change).await;
        }
        let value = self.inner.value(&first).await?;
        Ok(Counted::AlreadyApplied { value: Some(value) })
    }

    pub(super) async fn apply_unless_rejected(&self, key: &Key, change: &Change) -> Result<Counted> {
        let id = (key.clone(), change.op.clone());
        if lock(&self.state.rejected).contains(&id) {
            return Ok(Counted::OutOfBounds);
        }
        let counted = self.inner.apply(key, change).await?;
        if counted == Counted::OutOfBounds {
            lock(&self.state.rejected).insert(id);
        }
        Ok(counted)
    }

    /// Records the operation, and applies the change in a separate step.
    pub(super) async fn record_then_add(&self, key: &Key, change: &Change) -> Result<Counted> {
        let id = (key.clone(), change.op.clone());
        let known = !lock(&self.state.recorded).insert(id.clone());
        if known && !lock(&self.state.applied).contains(&id) {
            let value = Some(self.inner.value(key).await?);
            return Ok(Counted::AlreadyApplied { value });
        }
        between_steps().await;
        let counted = self.inner.apply(key, change).await?;
        match counted {
            Counted::Applied { .. } => lock(&self.state.applied).insert(id),
            Counted::AlreadyApplied { .. } | Counted::Mismatch => true,
            _ => lock(&self.state.recorded).remove(&id),
        };
        Ok(counted)
    }

    pub(super) async fn apply_and_note(&self, key: &Key, change: &Change) -> Result<Counted> {
        let counted = self.inner.apply(key, change).await?;
        if matches!(counted, Counted::Applied { .. } | Counted::AlreadyApplied { .. }) {
            lock(&self.state.applied).insert((key.clone(), change.op.clone()));
        }
        Ok(counted)
    }
}
