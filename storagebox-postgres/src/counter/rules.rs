//! The rules of a counter strategy, as arguments of the functions.

use storagebox_core::backend::CounterRules;
use storagebox_core::{OpId, Result, Strategy};

use crate::client::hash;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rules(pub(super) CounterRules);

impl Rules {
    pub(super) fn of(strategy: Strategy) -> Result<Self> {
        CounterRules::of("postgres", strategy).map(Self)
    }

    pub(super) fn capacity(&self) -> Option<i64> {
        self.0.capacity().map(i64::from)
    }

    pub(super) fn is_split(&self) -> bool {
        !self.0.answers_value()
    }

    pub(super) fn shards(&self) -> i32 {
        self.0.shards().into()
    }

    pub(super) fn floor(&self) -> i64 {
        self.0.fixed_bounds().floor().unwrap_or(i64::MIN)
    }

    pub(super) fn ceiling(&self) -> i64 {
        self.0.fixed_bounds().ceiling().unwrap_or(i64::MAX)
    }

    /// Returns the same shard for each attempt of an operation.
    pub(super) fn shard_of(&self, op: &OpId) -> i32 {
        match self.shards() {
            1 => 0,
            shards => (hash(op.as_str()).rem_euclid(shards.into())) as i32,
        }
    }
}
