//! Counters: the value of a key and the remembered operations on it, under one lock.

mod ledger;
mod ops;
mod shards;
mod void_ops;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Attempt, Bounds, Cancelled, Change, Counted, Counter, CounterPromise, Error, Key, OpId, Remember, Result, Strategy,
    async_trait,
};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::transaction::{Keyed, Open};

pub(crate) use ledger::MemoryLedger;
use ops::{Known, Ops};
use shards::Shards;
use void_ops::VoidOps;

/// How long `Strategy::TransactionToken` recognises an operation, as on DynamoDB.
const TOKEN: Duration = Duration::from_secs(600);

#[derive(Clone, Debug)]
pub(crate) enum AnyCounter {
    Value(Arc<MemoryCounter>),
    Entries(Arc<MemoryLedger>),
}

impl AnyCounter {
    pub(crate) fn new(settings: Settings, strategy: Strategy) -> Self {
        match strategy {
            Strategy::Ledger => Self::Entries(Arc::new(MemoryLedger::new(settings))),
            _ => Self::Value(Arc::new(MemoryCounter::new(settings, strategy))),
        }
    }

    pub(crate) fn strategy(&self) -> Strategy {
        match self {
            Self::Value(counter) => counter.strategy,
            Self::Entries(_) => Strategy::Ledger,
        }
    }

    pub(crate) fn joined(&self, by: &Open) -> Self {
        match self {
            Self::Value(counter) => Self::Value(Arc::new(counter.joined(by))),
            Self::Entries(ledger) => Self::Entries(Arc::new(ledger.joined(by))),
        }
    }

    /// Forgets at most `budget` operations whose retention is over. Returns the number of forgotten operations.
    pub(crate) fn maintain(&self, budget: usize) -> usize {
        match self {
            Self::Value(counter) => counter.maintain(budget),
            Self::Entries(_) => 0,
        }
    }
}

#[derive(Debug)]
pub(crate) struct MemoryCounter {
    settings: Settings,
    pub(crate) strategy: Strategy,
    rules: Rules,
    cells: Keyed<Key, Cell>,
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    memory: Remember,
    /// The maximum number of remembered operations; `None` for no limit.
    capacity: Option<u32>,
    /// Whether an operation can be cancelled before it arrives.
    fences: bool,
    /// The number of shards and the bounds of the total; `None` if the counter is not sharded.
    split: Option<(u16, Bounds)>,
}

impl Rules {
    fn of(strategy: Strategy) -> Self {
        let whole = Self { memory: Remember::Forever, capacity: None, fences: true, split: None };
        let forgetful = |memory| Self { memory, fences: false, ..whole };
        match strategy {
            Strategy::Atomic => forgetful(Remember::None),
            Strategy::Optimistic => forgetful(Remember::Writers(1)),
            Strategy::OptimisticHistory { len } => forgetful(Remember::Writers(len)),
            Strategy::TransactionToken => forgetful(Remember::For(TOKEN)),
            Strategy::Marker { retention } => Self { memory: retention.into(), ..whole },
            // Namespaces with this strategy are `MemoryLedger`s, which follow the same rules.
            Strategy::Ledger => whole,
            Strategy::TokenSet { max } => Self { capacity: Some(max), ..whole },
            Strategy::Window { lifetime, capacity } => {
                Self { memory: Remember::For(lifetime), capacity: Some(capacity), ..whole }
            }
            Strategy::Sharded { shards, bounds, retention } => {
                Self { memory: retention.into(), split: Some((shards, bounds)), ..whole }
            }
        }
    }
}

fn unsupported(what: impl fmt::Display, instead: &str) -> Error {
    Error::unsupported(what, instead).on("memory")
}

#[derive(Clone, Debug)]
struct Cell {
    shards: Shards,
    ops: Ops,
    void: VoidOps<Time>,
}

impl Cell {
    /// Whether the cell equals a new cell, so that it can be deleted.
    fn is_new(&self) -> bool {
        self.ops.is_empty() && self.void.is_empty() && self.shards.is_new()
    }

    fn forget_up_to(&mut self, most: usize, memory: Remember, now: Time) -> usize {
        let forgotten = self.ops.forget_up_to(most, memory, now);
        forgotten + self.void.forget_up_to(most - forgotten, |since| is_past(memory, since, now))
    }
}

fn is_past(memory: Remember, since: Time, now: Time) -> bool {
    matches!(memory, Remember::For(duration) if since.after(duration) <= now)
}

impl MemoryCounter {
    pub(crate) fn new(settings: Settings, strategy: Strategy) -> Self {
        Self { settings, strategy, rules: Rules::of(strategy), cells: Keyed::default() }
    }

    pub(crate) fn joined(&self, by: &Open) -> Self {
        let Self { strategy, rules, .. } = *self;
        Self { settings: self.settings.clone(), strategy, rules, cells: self.cells.joined(by) }
    }

    /// Runs `step` on the key's cell, after forgetting the key's operations whose retention is over.
    fn step<T>(&self, key: &Key, step: impl FnOnce(&mut Cell, Time) -> T) -> Result<T> {
        let mut cells = self.cells.to_change(key)?;
        let now = self.settings.now();
        let cell = cells.entry(key.clone()).or_insert_with(|| Cell {
            shards: Shards::new(self.rules.split),
            ops: Ops::default(),
            void: VoidOps::default(),
        });
        cell.ops.forget_up_to(usize::MAX, self.rules.memory, now);
        let outcome = step(cell, now);
        if cell.is_new() {
            cells.remove(key);
        }
        Ok(outcome)
    }

    fn check(&self, change: &Change) -> Result<()> {
        if change.reason.is_some() {
            let what = format_args!("a change with a reason under the counter strategy {:?}", self.strategy);
            return Err(unsupported(what, "the strategy Ledger, which keeps a log"));
        }
        match self.rules.split {
            Some((_, fixed)) if ![Bounds::NONE, fixed].contains(&change.bounds) => {
                let why = format_args!("are fixed for the namespace: {fixed:?}, not {:?}", change.bounds);
                Err(Error::invalid("bounds", why).on("memory"))
            }
            _ => Ok(()),
        }
    }

    fn apply_new(&self, cell: &mut Cell, attempt: Attempt, change: &Change, now: Time) -> Result<Counted> {
        if let Some(refusal) = cell.void.find(&change.op, attempt, |since| is_past(self.rules.memory, since, now)) {
            return Ok(refusal);
        }
        let value = match cell.shards.fits(change) {
            Ok(value) => value,
            Err(refusal) => return self.refused(cell, attempt, change, refusal, now),
        };
        if self.rules.memory != Remember::None {
            if cell.ops.is_full(self.rules.capacity) {
                return self.refused(cell, attempt, change, Counted::Full, now);
            }
            cell.void.forget(&change.op);
            let answer = self.answer(value);
            cell.ops.insert(change.op.clone(), Known::Applied { delta: change.delta, value: answer }, now);
        }
        cell.shards.add(&change.op, change.delta);
        Ok(Counted::Applied { value: self.answer(value) })
    }

    fn refused(
        &self,
        cell: &mut Cell,
        attempt: Attempt,
        change: &Change,
        refusal: Counted,
        now: Time,
    ) -> Result<Counted> {
        match self.rules.fences {
            true => cell.void.refuse(&change.op, attempt, refusal, now, |since| is_past(self.rules.memory, since, now)),
            false => attempt.refused(refusal),
        }
    }

    fn answer(&self, value: i64) -> Option<i64> {
        // Other backends cannot read the sum of the shards in the step of a change.
        self.rules.split.is_none().then_some(value)
    }

    pub(crate) fn maintain(&self, budget: usize) -> usize {
        let now = self.settings.now();
        self.cells.spend(budget, |cells, budget| {
            let mut used = 0;
            cells.retain(|_, cell| {
                used += cell.forget_up_to(budget - used, self.rules.memory, now);
                !cell.is_new()
            });
            used
        })
    }
}

#[async_trait]
impl Counter for MemoryCounter {
    #[instrument(level = "trace", skip_all)]
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        self.check(change)?;
        let applied = self.step(key, |cell, now| match cell.ops.find(&change.op) {
            Some(Known::Cancelled) => Ok(Counted::Fenced),
            Some(Known::Applied { delta, .. }) if *delta != change.delta => Ok(Counted::Mismatch),
            Some(Known::Applied { value, .. }) => Ok(Counted::AlreadyApplied { value: *value }),
            None => self.apply_new(cell, attempt, change, now),
        });
        applied.flatten().map_err(|error| self.promise().failed(error))
    }

    #[instrument(level = "trace", skip_all)]
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        if !self.rules.fences {
            let what = format_args!("a fence with the counter strategy {:?}", self.strategy);
            return Err(unsupported(what, "Marker, which remembers operations"));
        }
        self.step(key, |cell, now| match cell.ops.find(op) {
            Some(Known::Applied { value, .. }) => Cancelled::AlreadyApplied { value: *value },
            Some(Known::Cancelled) => Cancelled::Cancelled,
            None if cell.ops.is_full(self.rules.capacity) => Cancelled::Full,
            None => {
                cell.ops.insert(op.clone(), Known::Cancelled, now);
                cell.void.forget(op);
                Cancelled::Cancelled
            }
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn value(&self, key: &Key) -> Result<i64> {
        let cells = self.cells.to_read(key);
        Ok(cells.get(key).map_or(0, |cell| cell.shards.total()))
    }

    fn promise(&self) -> CounterPromise {
        CounterPromise {
            remember: self.rules.memory,
            bounds_per_change: self.rules.split.is_none(),
            answers_value: self.rules.split.is_none(),
            tells_mismatch: self.rules.memory != Remember::None,
            snapshot: true,
            capacity: self.rules.capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use storagebox_core::{ManualClock, Retention};

    use super::*;

    /// Regression: the key of a counter whose value was 0 again was kept for ever.
    #[tokio::test]
    async fn maintain_deletes_a_key_without_a_value_and_operations() -> Result<()> {
        let clock = ManualClock::new();
        let settings = Settings { clock: Arc::new(clock.clone()), ..Settings::default() };
        let retention = Duration::from_secs(1);
        let counter = MemoryCounter::new(settings, Strategy::Marker { retention: Retention::For(retention) });
        for (key, op, delta) in [("zero", "up", 1), ("zero", "down", -1), ("one", "up", 1)] {
            let _ = counter.apply(&Key::new(key)?, &Change::new(OpId::new(op)?, delta)).await?;
        }
        clock.advance(retention);
        assert_eq!(counter.maintain(10), 3);
        let mut keys = vec![];
        counter.cells.spend(1, |cells, _| {
            keys.extend(cells.keys().cloned());
            0
        });
        assert_eq!(keys, [Key::new("one")?]);
        Ok(())
    }
}
