//! `storagebox hand-out`: one item for every id, checked.

mod assign;
mod audit;
mod ledger;
mod plan;
mod report;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::sync::Arc;

use storagebox::bank::Counts;
use storagebox::parts::{Backend, ItemBank};

use super::load::{Loaded, load};
use crate::cli::{Global, HandOut};
use crate::exit::{Exit, Failure};
use crate::output::PendingCsv;
use crate::rejects::Rejects;
use crate::retry;
use crate::say::{Kind, say};
use crate::step::Step;
use crate::store::{self, is_memory};
use crate::terminal;
use assign::assign;
pub(crate) use assign::take;
pub(crate) use audit::{Audit, Change};
pub(crate) use ledger::{Entry, Ledger};
use plan::Plan;

pub(crate) async fn run(args: HandOut, global: &Global) -> Result<Exit, Failure> {
    let plan = Plan::new(&args, store::reserved(global)?).await?;
    let store = store::ready(global).await?;
    let bank = store.item_bank(&args.bank).map_err(|error| Step::OpenNamespace.failed(error))?;
    warn_of_nothing(&*store, plan.items.is_some());
    let alone = args.alone || is_memory(&*store);
    let done = hand_out(plan, bank, alone).await.map_err(|failure| failure.on(store.backend()))?;
    store::close(&*store).await?;
    match done.out.target().is_standard_output() {
        true => finish(done, global, &mut terminal::stderr(global.json)),
        false => finish(done, global, &mut terminal::stdout(global.json)),
    }
}

fn warn_of_nothing(store: &dyn Backend, has_items: bool) {
    if is_memory(store) && !has_items {
        say(Kind::Note, format_args!("memory: starts empty and --items was left out, so there is nothing to hand out"));
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
        rejected: rejects.rejected().lines,
        change: before.map(|before| Change { before, after }),
        free_left: after.free,
    };
    Ok(Done { audit, out, rejects })
}

async fn counts(bank: &dyn ItemBank) -> Result<Counts, Failure> {
    retry::harmless(Step::Count, || bank.counts()).await
}

/// Publishes what was written only if the audit holds; shows the audit in any case.
fn finish(done: Done, global: &Global, to: &mut dyn Write) -> Result<Exit, Failure> {
    let Done { audit, out, rejects } = done;
    let (mismatches, rejected) = (audit.mismatches(), rejects.rejected());
    if mismatches.is_empty() {
        rejects.publish()?;
        out.publish()?;
    }
    report::audit(to, &audit, &mismatches, global.json)?;
    match (mismatches.is_empty(), audit.summary.ids_without_item()) {
        (false, _) => Err(Failure::Audit(mismatches)),
        (true, 0) => Ok(rejected.exit(Exit::Done)),
        (true, _) => Ok(Exit::Nothing),
    }
}
