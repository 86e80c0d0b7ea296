//! Counters: each call is one script (`lua/counter`).

use std::sync::Arc;

use storagebox_core::backend::{Attempts, CounterRules};
use storagebox_core::{
    Attempt, Cancelled, Change, Counted, Counter, CounterPromise, Key, Namespace, OpId, Result, Strategy, async_trait,
};
use tracing::instrument;

use crate::client::{AfterLostReply, Answer, Client, Kind, OpenNamespace, since_now, wait};
use crate::script::{Script, script};

static APPLY: Script = script!(
    "counter_apply",
    CHANGES,
    timed,
    ["number", "whole", "buckets", "queue", "front", "counter", "void"],
    "counter/apply"
);
static CANCEL: Script =
    script!("counter_cancel", CHANGES, timed, ["number", "buckets", "queue", "front", "counter"], "counter/cancel");
static VALUE: Script =
    script!("counter_value", READS, timed, ["number", "buckets", "queue", "front", "counter"], "counter/value");
pub(crate) static MAINTAIN: Script =
    script!("counter_maintain", CHANGES, timed, ["number", "buckets", "queue", "front", "counter"], "counter/maintain");

#[derive(Debug)]
pub(crate) struct RedisCounter {
    counters: OpenNamespace,
    rules: CounterRules,
}

impl RedisCounter {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, strategy: Strategy) -> Result<Self> {
        let rules = CounterRules::of("redis", strategy)?;
        let counters =
            OpenNamespace::new(client, Kind::Counters, name).with_options(rules.to_stored_text(), keeps(&rules));
        Ok(Self { counters, rules })
    }

    fn client(&self) -> &Client {
        self.counters.client()
    }

    async fn attempt_once(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let (rules, bounds) = (&self.rules, self.rules.bounds(change));
        let call = self.counters.call(&APPLY).await?.with(key.as_str()).with(change.op.as_str());
        let call = call.with(change.delta).with(bounds.floor()).with(bounds.ceiling()).with(keeps(rules));
        let call = call.with(rules.capacity()).with(rules.remembers()).with(rules.answers_value());
        counted(&self.client().answer_attempt(call, attempt).await?)
    }
}

/// Returns how long the counter remembers operations, in microseconds; `None` means for ever.
fn keeps(rules: &CounterRules) -> Option<u64> {
    rules.keeps().map(i64::unsigned_abs)
}

/// Reads the value in field `at`, or `None` if the counter's strategy returns no value.
fn value(answer: &Answer, at: usize) -> Result<Option<i64>> {
    match answer.text(at)? {
        "" => Ok(None),
        _ => answer.number(at).map(Some),
    }
}

fn counted(answer: &Answer) -> Result<Counted> {
    match answer.word()? {
        "applied" => Ok(Counted::Applied { value: value(answer, 1)? }),
        "already" => Ok(Counted::AlreadyApplied { value: value(answer, 1)? }),
        "overflow" => Ok(Counted::Overflow),
        "out of bounds" => Ok(Counted::OutOfBounds),
        "full" => Ok(Counted::Full),
        "mismatch" => Ok(Counted::Mismatch),
        "fenced" => Ok(Counted::Fenced),
        _ => Err(answer.unreadable()),
    }
}

fn cancelled(answer: &Answer) -> Result<Cancelled> {
    match answer.word()? {
        "cancelled" => Ok(Cancelled::Cancelled),
        "already" => Ok(Cancelled::AlreadyApplied { value: value(answer, 1)? }),
        "full" => Ok(Cancelled::Full),
        _ => Err(answer.unreadable()),
    }
}

#[async_trait]
impl Counter for RedisCounter {
    #[instrument(level = "trace", skip_all)]
    async fn attempt_apply(&self, attempt: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        self.rules.check(change)?;
        let after = if self.rules.remembers() { AfterLostReply::Retry } else { AfterLostReply::Fail };
        let attempts = Attempts::new(attempt.is_repeated(), self.promise().remembers(), since_now());
        let apply = |attempt| attempts.make(wait, self.attempt_once(attempt, key, change));
        let applied = self.client().settle_attempts_as("apply", attempt, after, apply);
        applied.await.map_err(|error| self.promise().failed(error))
    }

    #[instrument(level = "trace", skip_all)]
    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        let rules = &self.rules;
        rules.check_cancel()?;
        let attempt = || async move {
            let call = self.counters.call(&CANCEL).await?.with(key.as_str()).with(op.as_str());
            cancelled(&self.client().answer_whole(&call.with(keeps(rules)).with(rules.capacity())).await?)
        };
        self.client().settle("cancel", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn value(&self, key: &Key) -> Result<i64> {
        let attempt = || async move {
            let call = self.counters.call(&VALUE).await?.with(key.as_str());
            self.client().answer(&call).await?.number(0)
        };
        self.client().settle("value", attempt).await
    }

    fn promise(&self) -> CounterPromise {
        self.rules.promise()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fuzz;

    #[test]
    fn fuzz_counter_answer_is_read_or_refused() {
        let known: &[&[&str]] = &[&["applied", "7"], &["already", ""], &["out of bounds"], &["cancelled"], &["-7"]];
        fuzz(
            &APPLY,
            known,
            &[
                |answer| counted(answer).map(drop),
                |answer| cancelled(answer).map(drop),
                |answer| answer.number(0).map(drop),
            ],
        );
    }
}
