//! Puts the items into the bank, a batch at a time.

use storagebox::bank::Added;
use storagebox::values::Item;
use tokio::task::yield_now;

use super::loss_aware::LossAwareBank;
use crate::exit::Failure;
use crate::input::Lines;
use crate::progress::Progress;
use crate::rejects::Rejects;

const BATCH: usize = 5_000;

/// What loading did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    pub added: u64,
    pub already_there: u64,
    /// Those of `already_there` that an attempt of our own, its reply lost, may have added.
    pub perhaps_ours: u64,
}

pub(crate) async fn load(mut lines: Lines, bank: &LossAwareBank, rejects: &mut Rejects) -> Result<Loaded, Failure> {
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

async fn add(batch: &[Item], bank: &LossAwareBank, loaded: &mut Loaded) -> Result<(), Failure> {
    let (Added { added, already_present }, is_lost) = bank.add(batch).await?;
    loaded.added += added;
    loaded.already_there += already_present;
    if is_lost {
        loaded.perhaps_ours += already_present;
    }
    Ok(())
}
