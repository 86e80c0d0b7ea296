//! `storagebox hand-out`: one item for every id, checked.

mod assign;
pub(crate) mod audit;
mod ledger;
mod load;
mod plan;
mod report;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::sync::Arc;

use storagebox::{Counts, ItemBank, Store};

use crate::cli::{Global, HandOut};
use crate::exit::{Exit, Failure};
use crate::output::PendingCsv;
use crate::progress::say;
use crate::rejects::Rejects;
use assign::assign;
use audit::{Audit, Change};
use ledger::Ledger;
use load::{Loaded, load};
use plan::Plan;

pub(crate) async fn run(args: HandOut, global: &Global) -> Result<Exit, Failure> {
    let plan = Plan::new(&args).await?;
    let store = storagebox::open(&global.url).await.map_err(Failure::Open)?;
    let bank = store.item_bank(&args.bank).map_err(Failure::Open)?;
    warn_of_memory(&*store, plan.items.is_some());
    let alone = args.alone || is_memory(&*store);
    let done = hand_out(plan, bank, alone).await?;
    store.close().await.map_err(Failure::Store)?;
    finish(done, &args, global, &mut io::stdout())
}

fn is_memory(store: &dyn Store) -> bool {
    store.backend() == "memory"
}

fn warn_of_memory(store: &dyn Store, has_items: bool) {
    if is_memory(store) {
        say(format_args!(
            "note: memory: keeps the bank in this program alone; it is gone when the program ends"
        ));
        if !has_items {
            say(format_args!(
                "note: memory: starts empty and --items was left out, so there is nothing to hand out"
            ));
        }
    }
}

/// The work itself is done; nothing is published yet.
struct Done {
    audit: Audit,
    out: PendingCsv,
    rejects: Rejects,
}

async fn hand_out(plan: Plan, bank: Arc<dyn ItemBank>, alone: bool) -> Result<Done, Failure> {
    let Plan { items, ids, mut out, mut rejects, concurrency } = plan;
    let before = if alone { Some(counts(&*bank).await?) } else { None };
    let loaded = match items {
        Some(items) => load(items, &*bank, &mut rejects).await?,
        None => Loaded::default(),
    };
    let mut ledger = Ledger::default();
    assign(ids, &bank, concurrency, &mut ledger, &mut out, &mut rejects).await?;
    let after = counts(&*bank).await?;
    let audit = Audit {
        loaded,
        summary: ledger.summary(),
        rejected: rejects.count(),
        change: before.map(|before| Change { before, after }),
        free_left: after.free,
    };
    Ok(Done { audit, out, rejects })
}

async fn counts(bank: &dyn ItemBank) -> Result<Counts, Failure> {
    bank.counts().await.map_err(Failure::Store)
}

/// Publishes what was written only if the audit holds; shows the audit in any case.
fn finish(done: Done, args: &HandOut, global: &Global, to: &mut dyn Write) -> Result<Exit, Failure> {
    let Done { audit, out, rejects } = done;
    let mismatches = audit.mismatches();
    if mismatches.is_empty() {
        let rejected = rejects.count();
        rejects.publish()?;
        out.publish()?;
        report::rejected(rejected, &plan::rejects_path(args));
    }
    report::audit(to, &audit, &mismatches, global.json).map_err(Failure::Print)?;
    match (mismatches.is_empty(), audit.summary.ids_without_item()) {
        (false, _) => Err(Failure::Audit(mismatches)),
        (true, 0) => Ok(Exit::Done),
        (true, _) => Ok(Exit::SomeGotNothing),
    }
}
