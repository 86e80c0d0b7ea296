//! Counters: each call is one function of the schema (`sql/counter`).

mod rules;

use std::sync::Arc;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::Attempts;
use storagebox_core::{
    Attempt, Cancelled, Change, Combined, Counted, Counter, CounterPromise, Error, Key, Namespace, OpId, Result,
    Strategy, async_trait,
};
use tokio::time::Instant;
use tracing::instrument;

use crate::client::{AfterLostReply, Client, FunctionCall, Kind, OpenNamespace, wait};
use crate::combining::{self, Combining, combine};
use crate::error::{read, unreadable};

use rules::Rules;

/// The maximum number of changes in one statement.
const MOST: usize = 64;

#[derive(Debug)]
pub(crate) struct PostgresCounter {
    counters: Arc<Counters>,
    combiner: Option<Combining<Apply>>,
}

#[derive(Debug)]
struct Counters {
    counters: OpenNamespace,
    rules: Rules,
}

#[derive(Clone, Debug)]
struct Apply {
    attempt: Attempt,
    key: Key,
    change: Change,
}

combine!("apply", Apply -> Counted, |apply| (apply.key.clone(), apply.change.op.clone()) => (Key, OpId));

enum Applied {
    Counted(Counted),
    /// The shard has no room for the change, but other shards may have room.
    Dry,
    /// The attempt was refused, and an earlier attempt may still apply the change.
    Open,
}

impl PostgresCounter {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, strategy: Strategy) -> Result<Self> {
        let rules = Rules::of(strategy)?;
        let counters =
            OpenNamespace::new(client, Kind::Counters, name).with_options(rules.0.to_stored_text(), rules.0.keeps());
        let counters = Arc::new(Counters { counters, rules });
        let combiner = combining::combiner(client, MOST, &counters, Counters::together);
        Ok(Self { counters, combiner })
    }
}

impl Counters {
    fn client(&self) -> &Client {
        self.counters.client()
    }

    async fn alone(&self, apply: &Apply, after_lost: AfterLostReply, deadline: Instant) -> Result<Counted> {
        let after_lost = match (self.rules.0.remembers(), after_lost) {
            (true, after_lost) => after_lost,
            (false, AfterLostReply::RetryAgain) => {
                return Err(Error::unknown("the reply to the batch with this call was lost").on("postgres"));
            }
            (false, _) => AfterLostReply::Fail,
        };
        let (is_repeated, since_begin) =
            (after_lost == AfterLostReply::RetryAgain, self.client().since_begin(deadline));
        let attempts = Attempts::new(is_repeated, self.rules.0.promise().remembers(), since_begin);
        let once = |is_any_lost| attempts.make(wait, self.once(apply, is_any_lost));
        self.client().repeated(deadline, after_lost, once).await
    }

    async fn once(&self, apply: &Apply, is_any_lost: bool) -> Result<Counted> {
        let mut applied = self.applied(std::slice::from_ref(apply), is_any_lost).await?.pop();
        if let Some(Applied::Dry) = applied {
            applied = Some(self.widely(apply, is_any_lost).await?);
        }
        match applied {
            Some(Applied::Counted(counted)) => Ok(counted),
            // Only a repeated attempt can be open, so `refused` returns an error here.
            Some(Applied::Open) => apply.attempt.after_lost(is_any_lost).refused(Counted::OutOfBounds),
            Some(Applied::Dry) | None => Err(unreadable("counter_apply")),
        }
    }

    async fn together(self: Arc<Self>, mut calls: Vec<Apply>) -> Vec<Combined<Result<Counted>>> {
        let part = |call: &Apply| (call.key.clone(), self.rules.shard_of(&call.change.op));
        let places = combining::sort(&mut calls, |one, other| part(one).cmp(&part(other)));
        let answers = combining::answers(self.client(), places, self.applied(&calls, false)).await;
        answers.into_iter().map(counted).collect()
    }

    /// Applies the changes in one statement. `calls` must be sorted by key and shard.
    async fn applied(&self, calls: &[Apply], is_any_lost: bool) -> Result<Vec<Applied>> {
        let rules = &self.rules;
        let attempts = || calls.iter().map(|call| call.attempt.after_lost(is_any_lost));
        let each = |of: fn(&Change) -> Option<i64>| calls.iter().map(|call| of(&call.change)).collect::<Vec<_>>();
        let function = if self.client().is_joined() { "counter_apply_within" } else { "counter_apply" };
        let call = FunctionCall::rows(function)
            .about(self.counters.opened().await?)
            .with(calls.iter().map(|call| call.key.as_str()).collect::<Vec<_>>())
            .with(calls.iter().map(|call| call.change.op.as_str()).collect::<Vec<_>>())
            .with(attempts().map(Attempt::call).collect::<Vec<_>>())
            .with(attempts().map(Attempt::is_repeated).collect::<Vec<_>>())
            .with(each(|change| Some(change.delta)))
            .with(each(|change| change.bounds.floor()))
            .with(each(|change| change.bounds.ceiling()))
            .with(calls.iter().map(|call| rules.shard_of(&call.change.op)).collect::<Vec<_>>())
            .with(rules.shards())
            .with(rules.floor())
            .with(rules.ceiling())
            .with(rules.is_split())
            .with(rules.0.remembers())
            .with(rules.0.keeps())
            .with(rules.capacity());
        self.client().rows(&call).await?.iter().map(|row| outcome(row, "counter_apply")).collect()
    }

    /// Moves room from other shards to the shard of the change, and then applies the change.
    async fn widely(&self, apply: &Apply, is_any_lost: bool) -> Result<Applied> {
        let (rules, change) = (&self.rules, &apply.change);
        let attempt = apply.attempt.after_lost(is_any_lost);
        let call = FunctionCall::rows("counter_apply_widely")
            .about(self.counters.opened().await?)
            .with(apply.key.as_str())
            .with(change.op.as_str())
            .with(attempt.call())
            .with(attempt.is_repeated())
            .with(change.delta)
            .with(rules.shard_of(&change.op))
            .with(rules.shards())
            .with(rules.floor())
            .with(rules.ceiling())
            .with(rules.0.keeps());
        outcome(&self.client().row(&call).await?, "counter_apply_widely")
    }
}

fn counted(applied: Combined<Result<Applied>>) -> Combined<Result<Counted>> {
    match applied {
        Combined::Answer(Ok(Applied::Counted(counted))) => Combined::Answer(Ok(counted)),
        Combined::Answer(Err(error)) => Combined::Answer(Err(error)),
        Combined::Answer(Ok(Applied::Dry | Applied::Open)) | Combined::RunAlone => Combined::RunAlone,
        Combined::Lost => Combined::Lost,
    }
}

fn outcome(row: &PgRow, function: &'static str) -> Result<Applied> {
    let value = read(function, row.try_get("value"))?;
    Ok(Applied::Counted(match read::<String>(function, row.try_get("outcome"))?.as_str() {
        "applied" => Counted::Applied { value },
        "already" => Counted::AlreadyApplied { value },
        "overflow" => Counted::Overflow,
        "out of bounds" => Counted::OutOfBounds,
        "full" => Counted::Full,
        "mismatch" => Counted::Mismatch,
        "fenced" => Counted::Fenced,
        "dry" => return Ok(Applied::Dry),
        "open" => return Ok(Applied::Open),
        _ => return Err(unreadable(function)),
    }))
}

#[async_trait]
impl Counter for PostgresCounter {
    #[instrument(level = "trace", skip_all)]
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        self.counters.rules.0.check(change)?;
        let apply = Apply { attempt, key: key.clone(), change: change.clone() };
        let deadline = self.counters.client().deadline();
        let made_alone =
            |lost| self.counters.alone(&apply, AfterLostReply::after_batch(attempt.is_repeated() || lost), deadline);
        let applied = combining::call(self.combiner.as_ref(), self.counters.client(), &apply, made_alone).await;
        applied.map_err(|error| self.promise().failed(error))
    }

    #[instrument(level = "trace", skip_all)]
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        let Counters { counters, rules } = &*self.counters;
        rules.0.check_cancel()?;
        let attempt = || async move {
            let call = FunctionCall::rows("counter_cancel")
                .about(counters.opened().await?)
                .with(key.as_str())
                .with(op.as_str())
                .with(rules.shard_of(op))
                .with(rules.shards())
                .with(rules.floor())
                .with(rules.ceiling())
                .with(rules.0.keeps())
                .with(rules.capacity());
            cancelled(&counters.client().row(&call).await?)
        };
        counters.client().settle("cancel", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn value(&self, key: &Key) -> Result<i64> {
        let counters = &self.counters.counters;
        let attempt = || async move {
            let call = FunctionCall::value("counter_total").about(counters.opened().await?).with(key.as_str());
            read("counter_total", counters.client().row(&call).await?.try_get(0))
        };
        counters.client().settle("value", attempt).await
    }

    fn promise(&self) -> CounterPromise {
        self.counters.rules.0.promise()
    }
}

fn cancelled(row: &PgRow) -> Result<Cancelled> {
    const FUNCTION: &str = "counter_cancel";
    match read::<String>(FUNCTION, row.try_get("outcome"))?.as_str() {
        "cancelled" => Ok(Cancelled::Cancelled),
        "already" => Ok(Cancelled::AlreadyApplied { value: read(FUNCTION, row.try_get("value"))? }),
        "full" => Ok(Cancelled::Full),
        _ => Err(unreadable(FUNCTION)),
    }
}
