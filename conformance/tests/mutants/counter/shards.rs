//! Shards with wrong bounds or wrong sums.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use storagebox_core::{Change, Counted, Key, OpId, Result, Strategy};

use super::BrokenCounter;
use crate::steps::lock;

impl BrokenCounter {
    pub(super) fn shard(&self, op: &OpId) -> u64 {
        let Strategy::Sharded { shards, .. } = self.strategy else {
            return 0;
        };
        let mut hasher = DefaultHasher::new();
        op.hash(&mut hasher);
        hasher.finish() % u64::from(shards)
    }

    /// Applies the change if the value of one shard stays within the bounds of the whole counter.
    pub(super) async fn apply_to_a_shard(&self, key: &Key, change: &Change) -> Result<Counted> {
        let Strategy::Sharded { bounds, .. } = self.strategy else {
            return self.inner.apply(key, change).await;
        };
        let place = (key.clone(), self.shard(&change.op));
        let value = lock(&self.state.shards).get(&place).copied().unwrap_or(0);
        if !bounds.contains(value.saturating_add(change.delta)) {
            return Ok(Counted::OutOfBounds);
        }
        let change = Change::new(change.op.clone(), change.delta);
        let counted = self.inner.apply(key, &change).await?;
        self.count_shard(place, change.delta, counted);
        Ok(counted)
    }

    pub(super) fn count_shard(&self, place: (Key, u64), delta: i64, counted: Counted) {
        if matches!(counted, Counted::Applied { .. }) {
            *lock(&self.state.shards).entry(place).or_default() += delta;
        }
    }

    pub(super) async fn apply_and_count_shard(&self, key: &Key, change: &Change) -> Result<Counted> {
        let counted = self.inner.apply(key, change).await?;
        self.count_shard((key.clone(), self.shard(&change.op)), change.delta, counted);
        Ok(counted)
    }
}
