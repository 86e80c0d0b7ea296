//! Adds the items to the bank in batches.

use storagebox::bank::Added;
use tokio::task::yield_now;

use super::batches::next_batch;
use super::loss_aware::LossAwareBank;
use crate::exit::Failure;
use crate::input::Lines;
use crate::progress::Progress;
use crate::rejects::Rejects;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    pub added: u64,
    pub already_there: u64,
    /// The number of items in `already_there` that a lost attempt of this run may have added.
    pub perhaps_ours: u64,
}

pub(crate) async fn load(mut lines: Lines, bank: &LossAwareBank, rejects: &mut Rejects) -> Result<Loaded, Failure> {
    let progress = Progress::of_lines("loading", lines.bytes());
    let mut loaded = Loaded::default();
    while let Some(batch) = next_batch(&mut lines, rejects, &progress).await? {
        let (Added { added, already_present }, is_lost) = bank.add(&batch).await?;
        loaded.added += added;
        loaded.already_there += already_present;
        loaded.perhaps_ours += if is_lost { already_present } else { 0 };
        // Without this, a store that never waits would keep the program from handling a signal.
        yield_now().await;
    }
    Ok(loaded)
}
