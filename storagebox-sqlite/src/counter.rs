//! Counters: values, and the remembered operations on them (`sql/counter`).

use std::sync::Arc;

use sqlx::Row;
use storagebox_core::backend::CounterRules;
use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{
    Attempt, Cancelled, Change, Counted, Counter, CounterPromise, Key, Namespace, OpId, Result, Strategy, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Kind, OpenNamespace, Step};
use crate::clock::Micros;
use crate::error::{read, unreadable};
use crate::void_calls::VoidCallsOf;

const KNOWN: &str = include_str!("../sql/counter/known.sql");
const SET: &str = include_str!("../sql/counter/set.sql");
const REMEMBER: &str = include_str!("../sql/counter/remember.sql");
const PURGE: &str = include_str!("../sql/counter/purge.sql");
const VALUE: &str = include_str!("../sql/counter/value.sql");

#[derive(Debug)]
pub(crate) struct SqliteCounter {
    counters: Arc<OpenNamespace>,
    rules: CounterRules,
}

impl SqliteCounter {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, strategy: Strategy) -> Result<Self> {
        let rules = CounterRules::of("sqlite", strategy)?;
        let counters =
            OpenNamespace::new(client, Kind::Counters, name).with_options(rules.to_stored_text(), rules.keeps());
        Ok(Self { counters: Arc::new(counters), rules })
    }
}

/// A counter in a transaction, and one operation on this counter.
struct Cell<'a> {
    key: &'a Key,
    op: &'a OpId,
    rules: &'a CounterRules,
    value: i64,
    /// The number of stored operations.
    ops: i64,
    /// Whether the operation is stored, even if its memory is over.
    is_stored: bool,
    known: Option<StoredOperation>,
    void: VoidCalls,
    /// The refusal of the last call that became void.
    refusal: Option<Counted>,
}

#[derive(Clone, Copy)]
enum StoredOperation {
    Applied { delta: i64, value: Option<i64> },
    Cancelled,
}

impl<'a> Cell<'a> {
    async fn of(step: &mut Step<'_>, key: &'a Key, op: &'a OpId, rules: &'a CounterRules) -> Result<Self> {
        let row = step.row(step.ask(KNOWN).bind(key.as_str()).bind(op.as_str()).bind(step.now.0)).await?;
        let row = row.ok_or_else(|| unreadable("a counter"))?;
        let number = |column| read::<Option<i64>>("a counter", row.try_get(column));
        let at = number("at")?.map(Micros);
        let forgotten = step.now.forgotten(rules.keeps());
        let known = match number("delta")? {
            _ if at.is_none_or(|at| at <= forgotten) => None,
            Some(delta) => Some(StoredOperation::Applied { delta, value: number("value")? }),
            None => Some(StoredOperation::Cancelled),
        };
        let sure = |column| number(column)?.ok_or_else(|| unreadable("a counter"));
        let (value, ops) = (sure("total")?, sure("ops")?);
        let text = |column| read::<Option<&str>>("a counter", row.try_get(column));
        let void = text("calls")?.unwrap_or_default().parse()?;
        let refusal = text("refusal")?.map(to_refusal).transpose()?;
        Ok(Self { key, op, rules, value, ops, is_stored: at.is_some(), known, void, refusal })
    }

    /// Deletes the forgotten operations of a full counter. Returns whether the counter is still full.
    async fn is_full(&mut self, step: &mut Step<'_>) -> Result<bool> {
        let Some(capacity) = self.rules.capacity().map(i64::from) else {
            return Ok(false);
        };
        if self.ops >= capacity {
            let forgotten = step.now.forgotten(self.rules.keeps());
            let purged = step.change(step.ask(PURGE).bind(self.key.as_str()).bind(forgotten.0)).await?;
            self.ops -= i64::try_from(purged).unwrap_or(i64::MAX);
            self.is_stored = false;
        }
        Ok(self.ops >= capacity)
    }

    /// Returns the refusal of the attempt if the call is void (ER-5).
    fn void_refusal(&self, attempt: Attempt) -> Option<Counted> {
        self.refusal.filter(|_| self.void.contain(attempt))
    }

    /// Returns the refusal. Makes the earlier attempts of the call void if the counter remembers operations.
    async fn refused(&self, step: &mut Step<'_>, attempt: Attempt, refusal: Counted) -> Result<Counted> {
        if !self.rules.remembers() {
            return attempt.refused(refusal);
        }
        let ends = self.rules.keeps().map_or(i64::MAX, |keeps| step.now.0.saturating_add(keeps));
        let void = self.void.clone();
        self.place().refuse(step, void, attempt, to_text(refusal), ends).await.map(|()| refusal)
    }

    fn place(&self) -> VoidCallsOf<'a> {
        VoidCallsOf { key: self.key.as_str(), id: self.op.as_str() }
    }

    async fn remember(&mut self, step: &mut Step<'_>, delta: Option<i64>, value: Option<i64>) -> Result<()> {
        if !self.void.is_empty() {
            self.place().forget(step).await?;
        }
        let put = step.ask(REMEMBER).bind(self.key.as_str()).bind(self.op.as_str());
        step.change(put.bind(delta).bind(value).bind(step.now.0)).await?;
        self.ops += i64::from(!self.is_stored);
        Ok(())
    }

    async fn set(&self, step: &mut Step<'_>) -> Result<()> {
        let put = step.ask(SET).bind(self.key.as_str()).bind(self.value).bind(self.ops);
        step.change(put).await.map(drop)
    }
}

fn to_text(refusal: Counted) -> &'static str {
    match refusal {
        Counted::Overflow => "overflow",
        Counted::Full => "full",
        _ => "out of bounds",
    }
}

fn to_refusal(text: &str) -> Result<Counted> {
    match text {
        "overflow" => Ok(Counted::Overflow),
        "full" => Ok(Counted::Full),
        "out of bounds" => Ok(Counted::OutOfBounds),
        _ => Err(unreadable("a counter")),
    }
}

type Apply = (Attempt, Key, Change, CounterRules);

async fn apply(step: &mut Step<'_>, (attempt, key, change, rules): &Apply) -> Result<Counted> {
    let attempt = *attempt;
    let mut cell = Cell::of(step, key, &change.op, rules).await?;
    match cell.known {
        Some(StoredOperation::Cancelled) => return Ok(Counted::Fenced),
        Some(StoredOperation::Applied { delta, .. }) if delta != change.delta => return Ok(Counted::Mismatch),
        Some(StoredOperation::Applied { value, .. }) => return Ok(Counted::AlreadyApplied { value }),
        None => {}
    }
    if let Some(refusal) = cell.void_refusal(attempt) {
        return Ok(refusal);
    }
    let Some(value) = cell.value.checked_add(change.delta) else {
        return cell.refused(step, attempt, Counted::Overflow).await;
    };
    if !rules.bounds(change).contains(value) {
        return cell.refused(step, attempt, Counted::OutOfBounds).await;
    }
    let answer = rules.answers_value().then_some(value);
    if rules.remembers() {
        if cell.is_full(step).await? {
            // Stores the new number of operations: `is_full` has deleted some.
            cell.set(step).await?;
            return cell.refused(step, attempt, Counted::Full).await;
        }
        cell.remember(step, Some(change.delta), answer).await?;
    }
    cell.value = value;
    cell.set(step).await?;
    Ok(Counted::Applied { value: answer })
}

async fn cancel(step: &mut Step<'_>, (key, op, rules): &(Key, OpId, CounterRules)) -> Result<Cancelled> {
    let mut cell = Cell::of(step, key, op, rules).await?;
    match cell.known {
        Some(StoredOperation::Applied { value, .. }) => return Ok(Cancelled::AlreadyApplied { value }),
        Some(StoredOperation::Cancelled) => return Ok(Cancelled::Cancelled),
        None => {}
    }
    let is_full = cell.is_full(step).await?;
    if !is_full {
        cell.remember(step, None, None).await?;
    }
    cell.set(step).await?;
    Ok(if is_full { Cancelled::Full } else { Cancelled::Cancelled })
}

#[async_trait]
impl Counter for SqliteCounter {
    #[instrument(level = "trace", skip_all)]
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        self.rules.check(change)?;
        let change = (attempt, key.clone(), change.clone(), self.rules);
        let applied = self.counters.write("apply", change, |step, change| Box::pin(apply(step, change)));
        applied.await.map_err(|error| self.promise().failed(error))
    }

    #[instrument(level = "trace", skip_all)]
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        self.rules.check_cancel()?;
        let op = (key.clone(), op.clone(), self.rules);
        self.counters.write("cancel", op, |step, op| Box::pin(cancel(step, op))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn value(&self, key: &Key) -> Result<i64> {
        let key = key.as_str().to_owned();
        let rows = self.counters.look("value", VALUE, move |ask| ask.bind(key.clone())).await?;
        rows.first().map_or(Ok(0), |row| read("a counter", row.try_get("value")))
    }

    fn promise(&self) -> CounterPromise {
        self.rules.promise()
    }
}
