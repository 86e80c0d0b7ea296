//! Counters: values, and the remembered operations on them (`sql/counter`).

use std::sync::Arc;

use sqlx::Row;
use storagebox_core::backend::CounterRules;
use storagebox_core::{
    Attempt, Cancelled, Change, Counted, Counter, CounterPromise, Key, Namespace, OpId, Result, Strategy, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Kind, OpenNamespace, Step};
use crate::clock::Micros;
use crate::error::{read, unreadable};

const KNOWN: &str = include_str!("../sql/counter/known.sql");
const SET: &str = include_str!("../sql/counter/set.sql");
const REMEMBER: &str = include_str!("../sql/counter/remember.sql");
const PURGE: &str = include_str!("../sql/counter/purge.sql");
const VALUE: &str = include_str!("../sql/counter/value.sql");

/// The counters of one name.
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

/// A counter within a step, and one operation on it.
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
}

#[derive(Clone, Copy)]
enum StoredOperation {
    Applied { delta: i64, value: Option<i64> },
    Cancelled,
}

impl<'a> Cell<'a> {
    async fn of(step: &mut Step<'_>, key: &'a Key, op: &'a OpId, rules: &'a CounterRules) -> Result<Self> {
        let row = step.row(step.ask(KNOWN).bind(key.as_str()).bind(op.as_str())).await?;
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
        Ok(Self { key, op, rules, value, ops, is_stored: at.is_some(), known })
    }

    /// Returns whether the counter has no room for an operation, after deleting those whose memory is over.
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

    async fn remember(&mut self, step: &mut Step<'_>, delta: Option<i64>, value: Option<i64>) -> Result<()> {
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

type Apply = (Key, Change, CounterRules);

async fn apply(step: &mut Step<'_>, (key, change, rules): &Apply) -> Result<Counted> {
    let mut cell = Cell::of(step, key, &change.op, rules).await?;
    match cell.known {
        Some(StoredOperation::Cancelled) => return Ok(Counted::Fenced),
        Some(StoredOperation::Applied { delta, .. }) if delta != change.delta => return Ok(Counted::Mismatch),
        Some(StoredOperation::Applied { value, .. }) => return Ok(Counted::AlreadyApplied { value }),
        None => {}
    }
    let Some(value) = cell.value.checked_add(change.delta) else {
        return Ok(Counted::Overflow);
    };
    if !rules.bounds(change).contains(value) {
        return Ok(Counted::OutOfBounds);
    }
    let answer = rules.answers_value().then_some(value);
    if rules.remembers() {
        if cell.is_full(step).await? {
            // Stores the new number of operations: `is_full` has deleted some.
            cell.set(step).await?;
            return Ok(Counted::Full);
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
        let change = (key.clone(), change.clone(), self.rules);
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
