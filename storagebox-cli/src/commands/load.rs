//! Puts the items into the bank, a batch at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use storagebox::bank::Added;
use storagebox::values::Item;
use storagebox::{Certainty, parts::ItemBank};
use tokio::task::yield_now;

use crate::exit::Failure;
use crate::input::Lines;
use crate::progress::Progress;
use crate::rejects::Rejects;
use crate::retry;
use crate::step::Step;

const BATCH: usize = 5_000;

/// What loading did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    pub added: u64,
    pub already_there: u64,
    /// Those of `already_there` that an attempt of our own, its reply lost, may have added.
    pub perhaps_ours: u64,
}

pub(crate) async fn load(mut lines: Lines, bank: &dyn ItemBank, rejects: &mut Rejects) -> Result<Loaded, Failure> {
    let progress = Progress::of_lines("loading", lines.bytes());
    let mut loaded = Loaded::default();
    let mut batch = Vec::with_capacity(BATCH);
    while next_batch(&mut lines, &mut batch, rejects, &progress).await? {
        add(&batch, bank, &mut loaded).await?;
        // A store that never waits must not keep the program from hearing an interrupt.
        yield_now().await;
    }
    Ok(loaded)
}

/// Fills the batch; `false` if there is nothing more to add.
async fn next_batch(
    lines: &mut Lines,
    batch: &mut Vec<Item>,
    rejects: &mut Rejects,
    progress: &Progress,
) -> Result<bool, Failure> {
    batch.clear();
    while batch.len() < BATCH {
        let Some(line) = lines.next_line().await? else {
            break;
        };
        match line.value {
            Ok(item) => batch.push(item),
            Err(reason) => rejects.add(lines.source(), line.number, &reason)?,
        }
        progress.line(line.ends_at);
    }
    Ok(!batch.is_empty())
}

async fn add(batch: &[Item], bank: &dyn ItemBank, loaded: &mut Loaded) -> Result<(), Failure> {
    let unresolved = AtomicBool::new(false);
    let attempt = || async {
        let answer = bank.add(batch).await;
        unresolved.fetch_or(is_unresolved(&answer), Ordering::Relaxed);
        answer
    };
    let Added { added, already_present } = retry::named(Step::Add, attempt).await?;
    loaded.added += added;
    loaded.already_there += already_present;
    if unresolved.into_inner() {
        loaded.perhaps_ours += already_present;
    }
    Ok(())
}

/// Whether the attempt may have taken effect although it was not answered.
pub(crate) fn is_unresolved<T>(answer: &storagebox::Result<T>) -> bool {
    answer.as_ref().is_err_and(|error| error.certainty() == Certainty::Unknown)
}
