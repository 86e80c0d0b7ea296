//! `storagebox hand-out`: one item for every id, checked.

mod assign;
mod audit;
mod ledger;
mod plan;
mod report;
#[cfg(test)]
mod tests;

use std::io::Write;

use storagebox::Store;
use storagebox::values::Namespace;

use super::load::{Loaded, load};
use crate::cli::{Global, HandOut};
use crate::exit::{Exit, Failure};
use crate::message::{Kind, eprint_message};
use crate::output::PendingCsv;
use crate::rejects::Rejects;
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
    warn_of_nothing(&store, plan.items.is_some());
    let alone = args.alone || is_memory(&store);
    let done = hand_out(plan, &store, &args.bank, alone).await?;
    store::close(&store).await?;
    match done.out.target().is_standard_output() {
        true => finish(done, global, &mut terminal::stderr(global.json)),
        false => finish(done, global, &mut terminal::stdout(global.json)),
    }
}

fn warn_of_nothing(store: &Store, has_items: bool) {
    if is_memory(store) && !has_items {
        eprint_message(
            Kind::Note,
            format_args!("memory: starts empty and --items was left out, so there is nothing to hand out"),
        );
    }
}

/// The result of a run before its files are published.
struct Done {
    audit: Audit,
    out: PendingCsv,
    rejects: Rejects,
}

async fn hand_out(plan: Plan, store: &Store, name: &Namespace, alone: bool) -> Result<Done, Failure> {
    let Plan { items, ids, mut out, mut rejects, concurrency } = plan;
    let bank = store.bank(name)?;
    let before = if alone { Some(bank.counts().await?) } else { None };
    let loaded = match items {
        Some(items) => load(items, &bank, &mut rejects).await?,
        None => Loaded::default(),
    };
    let mut ledger = Ledger::default();
    assign(ids, &bank, concurrency, &mut ledger, &mut out, &mut rejects).await?;
    let after = bank.counts().await?;
    let audit = Audit {
        loaded,
        summary: ledger.summary(),
        rejected: rejects.rejected().lines,
        change: before.map(|before| Change { before, after }),
        free_left: after.free,
    };
    Ok(Done { audit, out, rejects })
}

/// Publishes the files only if the audit holds, and shows the audit in any case.
fn finish(done: Done, global: &Global, to: &mut dyn Write) -> Result<Exit, Failure> {
    let Done { audit, out, rejects } = done;
    let (mismatches, rejected) = (audit.mismatches(), rejects.rejected());
    if mismatches.is_empty() {
        rejects.publish()?;
        out.publish()?;
    }
    report::answer(&audit, &mismatches).print(to, global.json)?;
    match (mismatches.is_empty(), audit.summary.ids_without_item()) {
        (false, _) => Err(Failure::Audit(mismatches)),
        (true, 0) => Ok(rejected.exit(Exit::Done)),
        (true, _) => Ok(Exit::Nothing),
    }
}
