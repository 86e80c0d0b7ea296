//! `storagebox counter ...`: counters that apply each operation once.

mod log;
mod promise;
#[cfg(test)]
mod tests;

use std::ops::Bound;

use storagebox::counters::Cancelled;
use storagebox::{Counted, Counters, Maintained, Store, Strategy, async_trait};

use super::listing;
use super::store_command::{Output, StoreCommand};
use crate::answer::{Answer, Field};
use crate::cli::{Add, Cancel, Compact, Counter, OfCounter, OfKeyAlone};
use crate::exit::{Exit, Failure};

const BATCH: usize = 1_000;

#[async_trait]
impl StoreCommand for Counter {
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let answer = match self {
            Counter::Log(args) => {
                let ledger = store.counters_with(&args.of.of.name, Strategy::Ledger)?;
                return listing::list(|| ledger.log(&args.of.key), args.limit, out.as_json, out.to).await;
            }
            Counter::Compact(args) => compact(&args, store).await?,
            Counter::Add(args) => add(&args, store).await?,
            Counter::Get(args) => get(&args, store).await?,
            Counter::Cancel(args) => cancel(&args, store).await?,
            Counter::Promise(args) => {
                promise::answer(&args, store.counters_with(&args.of.name, args.by.strategy)?.promise())
            }
        };
        out.print(answer)
    }
}

async fn add(args: &Add, store: &Store) -> Result<Answer, Failure> {
    let bound = |bound: Option<i64>| bound.map_or(Bound::Unbounded, Bound::Included);
    let counters = counters(&args.counter, store)?;
    let change = counters.add(&args.counter.of.key, args.delta).within((bound(args.min), bound(args.max)));
    let change = match &args.reason {
        Some(reason) => change.because(reason),
        None => change,
    };
    Ok(counted_answer(args, change.by(&args.op).await?))
}

fn counters(of: &OfCounter, store: &Store) -> storagebox::Result<Counters> {
    store.counters_with(&of.of.of.name, of.by.strategy)
}

fn counted_answer(args: &Add, counted: Counted) -> Answer {
    let (exit, outcome, value) = match counted {
        Counted::Applied { value } => (Exit::Done, "applied", value),
        Counted::AlreadyApplied { value } => (Exit::Done, "already_applied", value),
        Counted::OutOfBounds => (Exit::Nothing, "out_of_bounds", None),
        Counted::Overflow => (Exit::Nothing, "overflow", None),
        Counted::Mismatch => (Exit::Nothing, "mismatch", None),
        Counted::Full => (Exit::Nothing, "full", None),
        Counted::Fenced => (Exit::Nothing, "fenced", None),
    };
    with_value(of_key(&args.counter.of, exit).text("op", &args.op).word("outcome", outcome), value)
}

fn with_value(answer: Answer, value: Option<i64>) -> Answer {
    match value {
        Some(value) => answer.signed("value", value),
        None => answer,
    }
}

async fn get(args: &OfCounter, store: &Store) -> Result<Answer, Failure> {
    let value = counters(args, store)?.value(&args.of.key).await?;
    Ok(of_key(&args.of, Exit::Done).signed("value", value))
}

async fn cancel(args: &Cancel, store: &Store) -> Result<Answer, Failure> {
    let cancelled = counters(&args.counter, store)?.cancel(&args.counter.of.key).by(&args.op).await?;
    let (exit, outcome, value) = match cancelled {
        Cancelled::Cancelled => (Exit::Done, "cancelled", None),
        Cancelled::AlreadyApplied { value } => (Exit::Nothing, "already_applied", value),
        Cancelled::Full => (Exit::Nothing, "full", None),
    };
    let answer = of_key(&args.counter.of, exit).text("op", &args.op).word("outcome", outcome);
    Ok(with_value(answer, value))
}

/// Merges in batches, so that a signal can interrupt the command between two batches.
async fn compact(args: &Compact, store: &Store) -> Result<Answer, Failure> {
    let Compact { of, older_than } = args;
    let ledger = store.counters_with(&of.of.name, Strategy::Ledger)?;
    let mut merged = 0;
    loop {
        let Maintained { deleted, more } = ledger.compact(&of.key, *older_than, BATCH).await?;
        merged += deleted;
        if !more {
            return Ok(of_key(of, Exit::Done).with("merged", Field::Figure(merged)));
        }
        tokio::task::yield_now().await;
    }
}

fn of_key(of: &OfKeyAlone, exit: Exit) -> Answer {
    Answer::new(exit).text("namespace", &of.of.name).text("key", &of.key)
}
