//! `storagebox demo`: shows the promises under faults.

mod chance;
mod report;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use storagebox::values::{ClaimId, Item, Namespace};
use storagebox::{Bank, Retry, Store};

use super::bank::audit_of;
use super::hand_out::{Audit, Change, Entry, Ledger, take};
use super::load::Loaded;
use crate::check::Mismatch;
use crate::cli::{Demo, Global};
use crate::exit::{Exit, Failure};
use crate::message::{Kind, eprint_message};
use crate::progress::Progress;
use crate::store::{self, is_memory};
use crate::terminal;
use chance::{Chance, Faults};

/// The retry policy of the demo, with short delays, because the demo causes the faults itself.
const RETRY: Retry =
    Retry { attempts: 6, first_delay: Duration::from_millis(2), max_delay: Duration::from_millis(100) };
/// How often the demo repeats a call, with the same id, after all retries of the call have failed.
const ROUNDS: u32 = 100;

pub(crate) async fn run(args: &Demo, global: &Global) -> Result<Exit, Failure> {
    let store = store::for_a_while(global).await?;
    let name = Namespace::new(format!("demo-{:032x}", fastrand::u128(..)))?;
    let shown = show(args, &store, &name).await?;
    tell_what_stays(&store, &name);
    store::close(&store).await?;
    report::answer(args, &shown).print(&mut terminal::stdout(global.json), global.json)?;
    if shown.mismatches.is_empty() { Ok(Exit::Done) } else { Err(Failure::BankAudit(shown.mismatches)) }
}

fn tell_what_stays(store: &Store, name: &Namespace) {
    if !is_memory(store) {
        eprint_message(Kind::Note, format_args!("the bank {name} stays in the store"));
    }
}

struct DemoReport {
    seed: u64,
    faults: Arc<Faults>,
    audit: Audit,
    mismatches: Vec<Mismatch>,
}

async fn show(args: &Demo, store: &Store, name: &Namespace) -> Result<DemoReport, Failure> {
    let bank = store.bank(name)?;
    let mut random = args.seed.map_or_else(Rng::new, Rng::with_seed);
    let seed = args.seed.unwrap_or_else(|| random.get_seed());
    let faults = Arc::new(Faults::default());
    let before = bank.counts().await?;
    let loaded = fill(args.items.unwrap_or(args.people), &bank).await?;
    let calls = calls(args, &mut random)?;
    let chance = Chance::new(args.faults, random.u64(..), Arc::clone(&faults));
    let faulty = store.clone().layer(chance).with_retry(RETRY).bank(name)?;
    let ledger = hand_out(calls, args.tasks.into(), &faulty, &faults).await?;
    let (after, mut mismatches) = audit_of(&bank).await?;
    let change = Some(Change { before, after });
    let audit = Audit { loaded, summary: ledger.summary(), rejected: 0, change, free_left: after.free };
    mismatches.extend(audit.mismatches());
    Ok(DemoReport { seed, faults, audit, mismatches })
}

async fn fill(items: u32, bank: &Bank) -> storagebox::Result<Loaded> {
    let items: storagebox::Result<Vec<_>> = (1..=items).map(|number| Item::new(format!("CODE-{number:06}"))).collect();
    let mut loaded = Loaded::default();
    for batch in items?.chunks(1_000) {
        loaded.added += bank.add(batch).await?.added;
    }
    Ok(loaded)
}

/// Returns the calls of all people in random order.
fn calls(args: &Demo, random: &mut Rng) -> storagebox::Result<Vec<ClaimId>> {
    let people: Result<Vec<_>, _> =
        (1..=args.people).map(|number| ClaimId::new(format!("person-{number:06}"))).collect();
    let people = people?;
    let mut calls: Vec<_> = (0..args.times).flat_map(|_| people.iter().cloned()).collect();
    random.shuffle(&mut calls);
    Ok(calls)
}

async fn hand_out(calls: Vec<ClaimId>, tasks: usize, bank: &Bank, faults: &Arc<Faults>) -> Result<Ledger, Failure> {
    let seen = Arc::clone(faults);
    let progress = Progress::of_calls("handing out", calls.len() as u64, move || seen.total());
    let mut ledger = Ledger::default();
    let answers = stream::iter(calls).map(|id| answer(id, bank));
    let mut answers = answers.buffer_unordered(tasks);
    while let Some(entry) = answers.try_next().await? {
        ledger.enter(entry);
        progress.item();
    }
    Ok(ledger)
}

fn answer(id: ClaimId, bank: &Bank) -> impl Future<Output = Result<Entry, Failure>> + use<> {
    let bank = bank.clone();
    let task = tokio::spawn(async move { until_answered(id, &bank).await });
    async move { Ok(task.await.map_err(Failure::Died)??) }
}

async fn until_answered(id: ClaimId, bank: &Bank) -> storagebox::Result<Entry> {
    for _ in 1..ROUNDS {
        match take(id.clone(), bank).await {
            Err(error) if error.is_retryable() => {}
            answer => return answer,
        }
    }
    take(id, bank).await
}
