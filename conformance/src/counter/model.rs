//! The model of a counter, for one caller.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{
    Backend, Bounds, Cancelled, Change, Counted, Counter, Key, OpId, Remember, Result, Retention,
    Strategy as CounterStrategy,
};

use super::Kind;
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::model::{self, compare, minutes};
use crate::world::World;

pub(super) async fn matches_the_model(world: &World, kind: Kind) -> Verdict {
    // On a clock that the suite cannot move, the memory must not expire during a sequence.
    let memory = minutes(if world.can_travel() { 10 } else { 60 });
    let fixed = Bounds::between(-5, 8)?;
    let retention = Retention::For(memory);
    let time = Remember::For(memory);
    let (strategy, memory) = match kind {
        Kind::Marker => (CounterStrategy::Marker { retention }, time),
        Kind::Window => (CounterStrategy::Window { lifetime: memory, capacity: 3 }, time),
        Kind::Sharded => (CounterStrategy::Sharded { shards: 3, bounds: fixed, retention }, time),
        Kind::Optimistic => (CounterStrategy::Optimistic, Remember::Writers(1)),
        Kind::History => (CounterStrategy::OptimisticHistory { len: 3 }, Remember::Writers(3)),
        Kind::Set => (CounterStrategy::TokenSet { max: 4 }, Remember::Forever),
        Kind::Atomic => (CounterStrategy::Atomic, Remember::None),
        Kind::Ledger => (CounterStrategy::Ledger, Remember::Forever),
        Kind::Token => return Err(Failure::new("only the store has the clock of its request tokens")),
    };
    let fixed = match kind {
        Kind::Sharded => Some(fixed),
        Kind::Ledger => Some(Bounds::NONE),
        _ => None,
    };
    let (fences, now, cells) = (kind.fences(), Duration::ZERO, BTreeMap::new());
    compare(world, Counters { strategy, fixed, memory, fences, now, cells }).await
}

#[derive(Clone, Debug)]
enum Call {
    Apply(Key, Change),
    Cancel(Key, OpId),
    Value(Key),
}

#[derive(Clone, Debug)]
struct Counters {
    strategy: CounterStrategy,
    /// The bounds of the namespace, or `None` if each change has its own bounds.
    fixed: Option<Bounds>,
    memory: Remember,
    fences: bool,
    now: Duration,
    cells: BTreeMap<Key, Cell>,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    value: i64,
    /// The number of applied changes.
    writers: u64,
    ops: BTreeMap<OpId, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    since: Duration,
    /// The value of `Cell::writers` when the operation was remembered.
    writer: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Applied { delta: i64, value: Option<i64> },
    Cancelled,
}

impl What {
    fn counted(self, change: &Change) -> Counted {
        match self {
            Self::Cancelled => Counted::Fenced,
            Self::Applied { delta, .. } if delta != change.delta => Counted::Mismatch,
            Self::Applied { value, .. } => Counted::AlreadyApplied { value },
        }
    }

    fn cancelled(self) -> Cancelled {
        match self {
            Self::Cancelled => Cancelled::Cancelled,
            Self::Applied { value, .. } => Cancelled::AlreadyApplied { value },
        }
    }
}

impl Cell {
    /// Returns whether the store must still remember the operation. If not, the store may remember or forget it.
    fn must_know(&self, known: &Known, memory: Remember, now: Duration) -> bool {
        match memory {
            Remember::None => false,
            Remember::For(time) => known.since + time > now,
            Remember::Writers(last) => self.writers - known.writer < last.into(),
            Remember::Forever => true,
        }
    }

    fn is_full(&self, capacity: Option<u32>, memory: Remember, now: Duration) -> bool {
        let live = self.ops.values().filter(|known| self.must_know(known, memory, now)).count();
        capacity.is_some_and(|capacity| live >= capacity as usize)
    }

    /// Returns the new value after a change that is not remembered, or the expected refusal.
    fn judge(&self, change: &Change, is_full: bool) -> Result<i64, Counted> {
        let value = self.value.checked_add(change.delta).ok_or(Counted::Overflow)?;
        match (change.bounds.contains(value), is_full) {
            (false, _) => Err(Counted::OutOfBounds),
            (true, true) => Err(Counted::Full),
            (true, false) => Ok(value),
        }
    }
}

impl Counters {
    /// Returns what happened to the operation, and whether the store must still remember the operation.
    fn known(&self, key: &Key, op: &OpId) -> Option<(What, bool)> {
        let cell = self.cells.get(key)?;
        let known = cell.ops.get(op)?;
        Some((known.what, cell.must_know(known, self.memory, self.now)))
    }

    /// Returns whether the change overflows the sum of a ledger.
    fn may_overflow_unseen(&self, key: &Key, change: &Change) -> bool {
        // A ledger need not store its sum, so the store need not notice the overflow.
        let value = self.cells.get(key).map_or(0, |cell| cell.value);
        self.strategy == CounterStrategy::Ledger && value.checked_add(change.delta).is_none()
    }

    async fn apply(&mut self, counter: &dyn Counter, key: &Key, asked: &Change) -> Verdict {
        if self.may_overflow_unseen(key, asked) {
            return Ok(());
        }
        let promise = counter.promise();
        let judged = Change { bounds: self.fixed.unwrap_or(asked.bounds), ..asked.clone() };
        let sent = if promise.bounds_per_change { &judged } else { &judged.clone().within(Bounds::NONE) };
        let found = counter.apply(key, sent).await?;
        if let Some((what, must)) = self.known(key, &asked.op) {
            if found == what.counted(asked) {
                return Ok(());
            }
            ensure!(!must, "it is {what:?} and should be {:?}, found {found:?}", what.counted(asked));
        }
        let (now, memory) = (self.now, self.memory);
        let cell = self.cells.entry(key.clone()).or_default();
        cell.ops.remove(&asked.op);
        match cell.judge(&judged, cell.is_full(promise.capacity, memory, now)) {
            Err(rejected) => ensure_eq!(found, rejected, "on {}", cell.value),
            Ok(value) => {
                let told = promise.answers_value.then_some(value);
                ensure_eq!(found, Counted::Applied { value: told }, "on {}", cell.value);
                cell.value = value;
                cell.writers += 1;
                if promise.remember != Remember::None {
                    let what = What::Applied { delta: asked.delta, value: told };
                    cell.ops.insert(asked.op.clone(), Known { since: now, writer: cell.writers, what });
                }
            }
        }
        Ok(())
    }

    async fn cancel(&mut self, counter: &dyn Counter, key: &Key, op: &OpId) -> Verdict {
        if !self.fences {
            return Ok(());
        }
        let capacity = counter.promise().capacity;
        let found = counter.cancel(key, op).await?;
        if let Some((what, must)) = self.known(key, op) {
            // If the store may have forgotten the old fence, the fence that this answer reports may be a new fence.
            let again = matches!(what, What::Cancelled) && !must;
            if found == what.cancelled() && !again {
                return Ok(());
            }
            ensure!(!must, "it is {what:?} and should be {:?}, found {found:?}", what.cancelled());
        }
        let (now, memory) = (self.now, self.memory);
        let cell = self.cells.entry(key.clone()).or_default();
        let old_fence = cell.ops.remove(op).filter(|known| matches!(known.what, What::Cancelled));
        let full = cell.is_full(capacity, memory, now);
        let expected = if full { Cancelled::Full } else { Cancelled::Cancelled };
        // An old fence that the store still remembers needs no free place.
        let kept = old_fence.filter(|_| full && found == Cancelled::Cancelled);
        ensure!(kept.is_some() || found == expected, "expected {expected:?}, found {found:?}");
        if found == Cancelled::Cancelled {
            let new = Known { since: now, writer: cell.writers, what: What::Cancelled };
            cell.ops.insert(op.clone(), kept.unwrap_or(new));
        }
        Ok(())
    }
}

impl model::Model for Counters {
    type Call = Call;
    type Namespaces = Arc<dyn Counter>;

    fn calls() -> BoxedStrategy<Call> {
        let key = || "[xy]".prop_map(a_key);
        let op = || "[a-f]".prop_map(an_op);
        let delta = prop_oneof![
            8 => prop::sample::select(vec![-7, -3, -1, 0, 1, 2, 5, 13]),
            1 => prop::sample::select(vec![i64::MIN, i64::MAX, i64::MAX - 1, (1 << 53) + 1]),
        ];
        let bounds = prop::sample::select(vec![Bounds::NONE, Bounds::NONE, Bounds::at_least(0), Bounds::at_most(3)]);
        let change = (op(), delta, bounds).prop_map(|(op, delta, bounds)| Change::new(op, delta).within(bounds));
        prop_oneof![
            8 => (key(), change).prop_map(|(key, change)| Call::Apply(key, change)),
            1 => (key(), op()).prop_map(|(key, op)| Call::Cancel(key, op)),
            3 => key().prop_map(Call::Value),
        ]
        .boxed()
    }

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Arc<dyn Counter>> {
        store.counter(&"counters".parse()?, self.strategy)
    }

    async fn step(&mut self, counter: &Arc<dyn Counter>, call: &Call) -> Verdict {
        match call {
            Call::Apply(key, change) => self.apply(&**counter, key, change).await,
            Call::Cancel(key, op) => self.cancel(&**counter, key, op).await,
            Call::Value(key) => {
                let value = self.cells.get(key).map_or(0, |cell| cell.value);
                ensure_eq!(counter.value(key).await?, value, "the value");
                Ok(())
            }
        }
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
    }
}

fn a_key(text: String) -> Key {
    Key::new(text).expect("one letter")
}

fn an_op(text: String) -> OpId {
    OpId::new(text).expect("one letter")
}
