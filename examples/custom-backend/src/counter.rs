//! Counters: a value, and the operations that changed it.

use redb::{ReadableTable, TableDefinition};
use storagebox_core::backend::CounterRules;
use storagebox_core::{
    Attempt, Cancelled, Change, Counted, Counter, CounterPromise, Key, OpId, Result, Strategy, async_trait,
};

use crate::client::{BACKEND, Look, Step};
use crate::error::Stepped;
use crate::space::Space;
use crate::time::NEVER;
use crate::void_calls;

/// The counters, by namespace and key: the value, and the number of stored operations.
pub(crate) const COUNTERS: TableDefinition<(&str, &str), (i64, u64)> = TableDefinition::new("counters");

/// A row: the time until which the operation is remembered; and the delta and the counter's value after the operation,
/// or `None` for a cancelled operation.
type Row = (i64, Option<(i64, Option<i64>)>);

/// The stored operations, by namespace, key and operation.
pub(crate) const OPS: TableDefinition<(&str, &str, &str), Row> = TableDefinition::new("operations");

/// The refusals of `apply`. The row of a void call stores an index into this list.
const REFUSALS: [Counted; 3] = [Counted::OutOfBounds, Counted::Overflow, Counted::Full];

#[derive(Debug)]
pub(crate) struct RedbCounter {
    space: Space,
    rules: CounterRules,
}

impl RedbCounter {
    pub(crate) fn new(space: Space, strategy: Strategy) -> Result<Self> {
        let rules = CounterRules::of(BACKEND, strategy)?;
        Ok(Self { space: space.with_options("counters", rules.to_stored_text()), rules })
    }
}

/// A counter within a step, and the operation that the step applies or cancels.
struct Cell<'s> {
    step: &'s Step,
    rules: &'s CounterRules,
    key: (&'s str, &'s str),
    op: &'s OpId,
    value: i64,
    ops: u64,
}

/// A stored operation that is still remembered.
enum Known {
    Applied { delta: i64, value: Option<i64> },
    Cancelled,
}

impl<'s> Cell<'s> {
    fn of(step: &'s Step, rules: &'s CounterRules, key: (&'s str, &'s str), op: &'s OpId) -> Stepped<Self> {
        let (value, ops) = step.table(COUNTERS)?.get(key)?.map_or((0, 0), |row| row.value());
        Ok(Self { step, rules, key, op, value, ops })
    }

    fn known(&mut self) -> Stepped<Option<Known>> {
        let row = self.step.table(OPS)?.get(self.op_key())?.map(|row| row.value());
        match row {
            Some((until, _)) if until <= self.step.now => self.forget_some().map(|()| None),
            Some((_, Some((delta, value)))) => Ok(Some(Known::Applied { delta, value })),
            Some((_, None)) => Ok(Some(Known::Cancelled)),
            None => Ok(None),
        }
    }

    /// Deletes the operations of this counter that need not be remembered any more.
    fn forget_some(&mut self) -> Stepped<()> {
        let (mut ops, (name, key), now) = (self.step.edit(OPS)?, self.key, self.step.now);
        // No key contains U+0000 (V-1), so the range has the operations of this key alone.
        let next = format!("{key}\0");
        for gone in ops.extract_from_if((name, key, "")..(name, next.as_str(), ""), |_, (until, _)| until <= now)? {
            gone?;
            self.ops -= 1;
        }
        self.set()
    }

    /// Returns whether the counter is full. A full counter first forgets operations that need not be remembered any
    /// more.
    fn is_full(&mut self) -> Stepped<bool> {
        let Some(capacity) = self.rules.capacity() else { return Ok(false) };
        if self.ops >= capacity.into() {
            self.forget_some()?;
        }
        Ok(self.ops >= capacity.into())
    }

    fn remember(&mut self, applied: Option<(i64, Option<i64>)>) -> Stepped<()> {
        void_calls::forget(self.step, self.subject())?;
        self.step.edit(OPS)?.insert(self.op_key(), (self.end_of_memory(), applied))?;
        self.ops += 1;
        Ok(())
    }

    /// Writes the counter. Deletes its row if its value is 0 and it has no operations.
    fn set(&self) -> Stepped<()> {
        let mut counters = self.step.edit(COUNTERS)?;
        match (self.value, self.ops) {
            (0, 0) => counters.remove(self.key)?,
            row => counters.insert(self.key, row)?,
        };
        Ok(())
    }

    /// Returns the earlier refusal of this call if the attempt is void (ER-5).
    fn void(&self, attempt: Attempt) -> Stepped<Option<Counted>> {
        let refusal = void_calls::refusal(self.step, self.subject(), attempt)?;
        Ok(refusal.and_then(|number| REFUSALS.get(usize::from(number)).copied()))
    }

    /// Makes the earlier attempts of the call void, and returns the refusal. Returns an error for a repeated attempt if
    /// the counter remembers no operations.
    fn refused(&self, attempt: Attempt, refusal: Counted) -> Stepped<Counted> {
        if !self.rules.remembers() {
            return Ok(attempt.refused(refusal)?);
        }
        let number = REFUSALS.iter().position(|known| *known == refusal).unwrap_or_default() as u8;
        void_calls::refuse(self.step, self.subject(), attempt, number, self.end_of_memory()).map(|()| refusal)
    }

    fn end_of_memory(&self) -> i64 {
        self.rules.keeps().map_or(NEVER, |micros| self.step.now.saturating_add(micros))
    }

    fn subject(&self) -> void_calls::Subject<'s> {
        ("operation", self.key.0, self.key.1, self.op.as_str())
    }

    fn op_key(&self) -> (&'s str, &'s str, &'s str) {
        (self.key.0, self.key.1, self.op.as_str())
    }

    fn apply(&mut self, attempt: Attempt, change: &Change) -> Stepped<Counted> {
        match self.known()? {
            Some(Known::Cancelled) => return Ok(Counted::Fenced),
            Some(Known::Applied { delta, .. }) if delta != change.delta => return Ok(Counted::Mismatch),
            Some(Known::Applied { value, .. }) => return Ok(Counted::AlreadyApplied { value }),
            None => {}
        }
        if let Some(refusal) = self.void(attempt)? {
            return Ok(refusal);
        }
        let Some(value) = self.value.checked_add(change.delta) else {
            return self.refused(attempt, Counted::Overflow);
        };
        if !self.rules.bounds(change).contains(value) {
            return self.refused(attempt, Counted::OutOfBounds);
        }
        let answer = self.rules.answers_value().then_some(value);
        if self.rules.remembers() {
            if self.is_full()? {
                return self.refused(attempt, Counted::Full);
            }
            self.remember(Some((change.delta, answer)))?;
        }
        self.value = value;
        self.set().map(|()| Counted::Applied { value: answer })
    }

    fn cancel(&mut self) -> Stepped<Cancelled> {
        match self.known()? {
            Some(Known::Applied { value, .. }) => return Ok(Cancelled::AlreadyApplied { value }),
            Some(Known::Cancelled) => return Ok(Cancelled::Cancelled),
            None => {}
        }
        if self.is_full()? {
            return Ok(Cancelled::Full);
        }
        self.remember(None)?;
        self.set().map(|()| Cancelled::Cancelled)
    }
}

/// Deletes operations that need not be remembered any more.
pub(crate) fn maintain(step: &Step, most: usize) -> Stepped<usize> {
    let (mut ops, mut counters, mut deleted) = (step.edit(OPS)?, step.edit(COUNTERS)?, 0);
    for gone in ops.extract_if(|_, (until, _)| until <= step.now)?.take(most) {
        let (key, _) = gone?;
        let (name, key, _) = key.value();
        let (value, ops) = counters.get((name, key))?.map_or((0, 0), |row| row.value());
        counters.insert((name, key), (value, ops.saturating_sub(1)))?;
        deleted += 1;
    }
    Ok(deleted)
}

#[async_trait]
impl Counter for RedbCounter {
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        self.rules.check(change)?;
        let (key, change, rules) = (key.clone(), change.clone(), self.rules);
        let step = move |step: &Step, name: &str| {
            Cell::of(step, &rules, (name, key.as_str()), &change.op)?.apply(attempt, &change)
        };
        // A change is not retried if the counter would not recognise its operation (ER-4).
        self.space.write("apply", step).await.map_err(|error| self.promise().failed(error))
    }

    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        self.rules.check_cancel()?;
        let (key, op, rules) = (key.clone(), op.clone(), self.rules);
        let step = move |step: &Step, name: &str| Cell::of(step, &rules, (name, key.as_str()), &op)?.cancel();
        self.space.write("cancel", step).await
    }

    async fn value(&self, key: &Key) -> Result<i64> {
        let key = key.clone();
        let look = move |look: &Look, name: &str| {
            Ok(look.table(COUNTERS)?.get((name, key.as_str()))?.map_or(0, |row| row.value().0))
        };
        self.space.read("value", look).await
    }

    fn promise(&self) -> CounterPromise {
        self.rules.promise()
    }
}
