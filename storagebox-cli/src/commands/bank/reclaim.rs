//! `storagebox bank reclaim`: ends the claims of a file of ids, and frees their items.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use storagebox::values::ClaimId;
use storagebox::{Bank, Released};

use crate::answer::Answer;
use crate::cli::Reclaim;
use crate::commands::batches::Batches;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;

const CONCURRENCY: usize = 64;

pub(super) async fn run(args: &Reclaim, bank: &Bank, reserved: &Reserved) -> Result<Answer, Failure> {
    let Reclaim { of, ids, lines } = args;
    let batches = Batches::of_file(ids, lines.rejects.as_deref(), lines.header, "reclaiming", reserved).await?;
    let ([released, expired, confirmed], rejected) = batches.sum(|ids| release(ids, bank)).await?;
    let exit = if confirmed == 0 { Exit::Done } else { Exit::Nothing };
    let answer = Answer::new(rejected.exit(exit)).text("namespace", &of.name).figure("released", released);
    let answer = answer.figure("expired", expired).figure("confirmed", confirmed);
    Ok(answer.figure("rejected_lines", rejected.lines))
}

/// Releases the claims. Returns the numbers of released, expired and confirmed claims.
async fn release(ids: Vec<ClaimId>, bank: &Bank) -> Result<[u64; 3], Failure> {
    let mut counts = [0; 3];
    let mut releases = stream::iter(ids).map(|id| bank.release(id)).buffer_unordered(CONCURRENCY);
    while let Some(released) = releases.try_next().await? {
        counts[match released {
            Released::Released => 0,
            Released::Expired => 1,
            Released::Confirmed => 2,
        }] += 1;
    }
    Ok(counts)
}
