//! Adds the items to the bank in batches.

use storagebox::Bank;
use storagebox::bank::Added;
use storagebox::values::Item;
use tokio::task::yield_now;

use super::batches::next_batch;
use crate::exit::Failure;
use crate::input::Lines;
use crate::progress::Progress;
use crate::rejects::Rejects;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    pub added: u64,
    /// Items that the bank had before, or that this run added by a call whose reply was lost.
    pub already_there: u64,
}

pub(crate) async fn load(mut lines: Lines, bank: &Bank, rejects: &mut Rejects) -> Result<Loaded, Failure> {
    let progress = Progress::of_lines("loading", lines.bytes());
    let mut loaded = Loaded::default();
    while let Some(batch) = next_batch::<Item>(&mut lines, rejects, &progress).await? {
        let Added { added, already_present } = bank.add(&batch).await?;
        loaded.added += added;
        loaded.already_there += already_present;
        // Without this, a store that never waits would keep the program from handling a signal.
        yield_now().await;
    }
    Ok(loaded)
}
