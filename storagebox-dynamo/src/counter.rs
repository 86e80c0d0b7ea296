//! Counters: the seven approaches of article 5, the window of article 3, and write sharding.
//!
//! | attribute of a counter's row | holds |
//! |---|---|
//! | `v` | the value |
//! | `n` | the number of writes of the row, if writers compare it |
//! | `h` | the last writers ([`history`]) |
//! | `d`, `w` | the operations of a set: `d` has the delta and the time, `w` the value after each ([`entries`]) |
//! | `x` | the void calls of operations that a set refused ([`void_ops`]) |
//! | `up`, `down` | how far the value of a shard may still go up and down ([`parts`]) |

mod atomic;
mod entries;
mod history;
mod ledger;
mod marker;
mod optimistic;
mod parts;
mod queue;
mod room;
mod rules;
mod set;
mod sharded;
mod token;
mod values;
mod void_ops;

use std::sync::Arc;

use storagebox_core::{
    Attempt, Cancelled, Change, Counted, Counter, CounterPromise, Error, Key, Namespace, OpId, Result, Strategy,
    async_trait,
};
use tracing::instrument;

use crate::client::{Client, Tag};
use crate::parts::Planned;

pub(crate) use entries::{ENTRY_BYTES, OTHER_BYTES};
pub(crate) use history::BYTES as HISTORY_BYTES;
pub(crate) use ledger::DynamoLedger;
use marker::Markers;
use optimistic::Optimistic;
use rules::{Rules, unsupported};
use set::Set;
use sharded::Sharded;
use values::Values;

#[derive(Debug)]
pub(crate) struct DynamoCounter {
    rules: Rules,
    values: Values,
    approach: Approach,
}

#[derive(Debug)]
enum Approach {
    Atomic,
    Optimistic(Optimistic),
    Token,
    Marker(Markers),
    Set(Set),
    Sharded(Sharded),
}

/// Checks that a store can open a counter with this strategy.
pub(crate) fn checked(strategy: Strategy) -> Result<()> {
    Rules::of(strategy).map(drop)
}

impl DynamoCounter {
    /// Creates counters of any strategy except `Ledger`, which [`DynamoLedger`] implements.
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, strategy: Strategy) -> Result<Self> {
        let rules = Rules::of(strategy)?;
        let approach = Approach::of(strategy)?;
        let values = Values::new(client, name, rules.to_stored_text()).remembering(rules.promise().remembers());
        Ok(Self { rules, values, approach })
    }
}

impl Approach {
    fn of(strategy: Strategy) -> Result<Self> {
        Ok(match strategy {
            Strategy::Atomic => Self::Atomic,
            Strategy::Optimistic => Self::Optimistic(Optimistic::new(1)),
            Strategy::OptimisticHistory { len } => Self::Optimistic(Optimistic::new(len)),
            Strategy::TransactionToken => Self::Token,
            Strategy::Marker { retention } => Self::Marker(Markers::new(retention)),
            Strategy::TokenSet { max } => Self::Set(Set::new(max, None)),
            Strategy::Window { lifetime, capacity } => Self::Set(Set::new(capacity, Some(lifetime))),
            Strategy::Sharded { shards, bounds, retention } => Self::Sharded(Sharded::new(shards, bounds, retention)),
            // Only a change that is planned for a transaction of the caller gets here. `DynamoLedger` makes all other
            // calls.
            Strategy::Ledger => return Err(unplanned("Ledger")),
        })
    }
}

/// Creates the error of a strategy that cannot take part in a transaction of the caller.
fn unplanned(strategy: &str) -> Error {
    let what = format_args!("a change by the counter strategy {strategy} in a transaction of the caller");
    unsupported(what, "Marker, which remembers each operation in a separate row")
}

impl DynamoCounter {
    pub(crate) async fn plan(self: &Arc<Self>, key: &Key, change: &Change, tag: &Tag) -> Result<Planned<Counted>> {
        self.rules.check(change)?;
        match &self.approach {
            Approach::Marker(markers) => markers.plan(self, key, change, tag).await,
            _ => Err(unplanned(&self.rules.to_stored_text())),
        }
    }

    /// Converts the error of a change. An atomic change is not repeated unless `retry_atomic` is on.
    fn failed(&self, error: Error) -> Error {
        match self.approach {
            Approach::Atomic if self.values.client().settings().retry_atomic => error,
            _ => self.promise().failed(error),
        }
    }
}

#[async_trait]
impl Counter for DynamoCounter {
    #[instrument(level = "trace", skip_all)]
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        self.rules.check(change)?;
        let applied = match &self.approach {
            Approach::Atomic => atomic::apply(&self.values, attempt, key, change).await,
            Approach::Optimistic(optimistic) => optimistic.apply(&self.values, attempt, key, change).await,
            Approach::Token => token::apply(&self.values, attempt, key, change).await,
            Approach::Marker(markers) => markers.apply(&self.values, attempt, key, change).await,
            Approach::Set(set) => set.apply(&self.values, attempt, key, change).await,
            Approach::Sharded(sharded) => sharded.apply(&self.values, attempt, key, change).await,
        };
        applied.map_err(|error| self.failed(error))
    }

    #[instrument(level = "trace", skip_all)]
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        match &self.approach {
            Approach::Marker(markers) => markers.cancel(&self.values, key, op).await,
            Approach::Set(set) => set.cancel(&self.values, key, op).await,
            Approach::Sharded(sharded) => sharded.cancel(&self.values, key, op).await,
            Approach::Atomic | Approach::Optimistic(_) | Approach::Token => {
                let what = format_args!("a fence with the counter strategy {}", self.rules.to_stored_text());
                Err(unsupported(what, "Marker, which remembers operations"))
            }
        }
    }

    #[instrument(level = "trace", skip_all)]
    async fn value(&self, key: &Key) -> Result<i64> {
        match &self.approach {
            Approach::Sharded(sharded) => sharded.value(&self.values, key).await,
            _ => self.values.read(key).await,
        }
    }

    fn promise(&self) -> CounterPromise {
        self.rules.promise()
    }
}
