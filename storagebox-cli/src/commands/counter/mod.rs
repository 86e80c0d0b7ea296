//! `storagebox counter ...`: counters whose changes are applied once each.

mod log;
mod promise;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::sync::Arc;

use storagebox::counters::{Bounds, Cancelled};
use storagebox::parts::{self, Backend, Change, Ledger};
use storagebox::{Counted, Maintained};

use super::listing;
use crate::answer::{Answer, Fact};
use crate::cli::{Add, Cancel, Compact, Counter, Global, OfCounter, OfKeyAlone, OfNamespace, OfStrategy};
use crate::exit::{Exit, Failure};
use crate::retry;
use crate::step::Step;
use crate::store;
use crate::terminal;
use log::Entries;

/// How many operations are merged with one call.
const BATCH: usize = 1_000;

pub(crate) async fn run(command: Counter, global: &Global) -> Result<Exit, Failure> {
    let store = store::ready(global).await?;
    let asked = ask(command, &*store, global.json, &mut terminal::stdout(global.json)).await;
    store::closed(&*store, asked).await
}

async fn ask(
    command: Counter,
    store: &dyn Backend,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    let answer = match command {
        Counter::Log(args) => {
            let ledger = store.ledger(&args.of.of.name).map_err(|error| Step::OpenNamespace.failed(error))?;
            let entries = Entries { ledger: &*ledger, key: &args.of.key };
            return listing::list(&entries, args.limit, as_json, to).await;
        }
        Counter::Compact(args) => {
            let ledger = store.ledger(&args.of.of.name).map_err(|error| Step::OpenNamespace.failed(error))?;
            compact(&args, &*ledger).await?
        }
        Counter::Add(args) => add(&args, store).await?,
        Counter::Get(args) => get(&args, store).await?,
        Counter::Cancel(args) => cancel(&args, store).await?,
        Counter::Promise(args) => {
            let promised = opened(&args.of, &args.by, store)?.promise();
            promise::answer(&args, promised)
        }
    };
    answer.print(to, as_json)
}

async fn add(args: &Add, store: &dyn Backend) -> Result<Answer, Failure> {
    let bounds = bounds(args).map_err(Failure::Argument)?;
    let mut change = Change::new(args.op.clone(), args.delta).within(bounds);
    change.reason = args.reason.clone();
    let counter = counter(&args.counter, store)?;
    let key = &args.counter.of.key;
    let counted = retry::counted(Step::Change, counter.promise(), || counter.apply(key, &change)).await?;
    Ok(counted_answer(args, counted))
}

fn bounds(args: &Add) -> storagebox::Result<Bounds> {
    Ok(match (args.min, args.max) {
        (None, None) => Bounds::NONE,
        (Some(min), None) => Bounds::at_least(min),
        (None, Some(max)) => Bounds::at_most(max),
        (Some(min), Some(max)) => Bounds::between(min, max)?,
    })
}

fn counter(of: &OfCounter, store: &dyn Backend) -> Result<Arc<dyn parts::Counter>, Failure> {
    opened(&of.of.of, &of.by, store)
}

fn opened(of: &OfNamespace, by: &OfStrategy, store: &dyn Backend) -> Result<Arc<dyn parts::Counter>, Failure> {
    store.counter(&of.name, by.strategy).map_err(|error| Step::OpenNamespace.failed(error))
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

async fn get(args: &OfCounter, store: &dyn Backend) -> Result<Answer, Failure> {
    let counter = counter(args, store)?;
    let value = retry::harmless(Step::ReadCounter, || counter.value(&args.of.key)).await?;
    Ok(of_key(&args.of, Exit::Done).signed("value", value))
}

async fn cancel(args: &Cancel, store: &dyn Backend) -> Result<Answer, Failure> {
    let (counter, key) = (counter(&args.counter, store)?, &args.counter.of.key);
    let cancelled = retry::named(Step::Cancel, || counter.cancel(key, &args.op)).await?;
    let (exit, outcome, value) = match cancelled {
        Cancelled::Cancelled => (Exit::Done, "cancelled", None),
        Cancelled::AlreadyApplied { value } => (Exit::Nothing, "already_applied", value),
        Cancelled::Full => (Exit::Nothing, "full", None),
    };
    let answer = of_key(&args.counter.of, exit).text("op", &args.op).word("outcome", outcome);
    Ok(with_value(answer, value))
}

/// A batch at a time, so that an interrupt finds its place; what is merged stays merged.
async fn compact(args: &Compact, ledger: &dyn Ledger) -> Result<Answer, Failure> {
    let Compact { of, older_than } = args;
    let mut merged = 0;
    loop {
        let call = || ledger.compact(&of.key, *older_than, BATCH);
        let Maintained { deleted, more } = retry::harmless(Step::Compact, call).await?;
        merged += deleted;
        if !more {
            return Ok(of_key(of, Exit::Done).with("merged", Fact::Figure(merged)));
        }
        tokio::task::yield_now().await;
    }
}

fn of_key(of: &OfKeyAlone, exit: Exit) -> Answer {
    Answer::new(exit).text("namespace", &of.of.name).text("key", &of.key)
}
