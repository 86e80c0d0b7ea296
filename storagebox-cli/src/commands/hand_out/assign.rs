//! Takes an item for each line of ids, concurrently. The answers keep the order of the input.

use std::pin::pin;

use futures_util::stream::{self, StreamExt};
use storagebox::bank::{Extended, HoldState};
use storagebox::values::ClaimId;
use storagebox::{Bank, Held, Taken};
use tokio::task::JoinHandle;

use super::ledger::{Answer, Entry, Ledger};
use crate::exit::Failure;
use crate::input::{Line, Lines, Reason};
use crate::output::PendingCsv;
use crate::progress::Progress;
use crate::rejects::Rejects;

/// A line of the input, with the answer of the bank or the reason why the line was rejected.
struct Answered {
    number: u64,
    ends_at: u64,
    entry: Result<Entry, Reason>,
}

pub(super) async fn assign(
    lines: Lines,
    bank: &Bank,
    concurrency: usize,
    ledger: &mut Ledger,
    out: &mut PendingCsv,
    rejects: &mut Rejects,
) -> Result<(), Failure> {
    let progress = Progress::of_lines("handing out", lines.bytes());
    let source = lines.source().clone();
    // Ends at the first error: no line after it may take an item.
    let asked = stream::try_unfold(lines, |mut lines| async {
        let line = lines.next_line().await?;
        Ok(line.map(|line| (line, lines)))
    });
    let mut answered = pin!(asked.map(|line| start(line, bank)).buffered(concurrency));
    while let Some(line) = answered.next().await {
        let line = line?;
        match line.entry {
            Ok(entry) => {
                out.write(entry.fields())?;
                ledger.enter(entry);
            }
            Err(reason) => rejects.add(&source, line.number, &reason)?,
        }
        progress.line(line.ends_at);
    }
    Ok(())
}

/// Spawns the task that serves a line, and returns a future of its answer.
fn start(line: Result<Line<ClaimId>, Failure>, bank: &Bank) -> impl Future<Output = Result<Answered, Failure>> + use<> {
    // The task is spawned before its future is polled, because `buffered` polls only some of its futures.
    let started = line.map(|line| (line.number, line.ends_at, line.value.map(|id| spawn(id, bank))));
    async move {
        let (number, ends_at, task) = started?;
        let entry = match task {
            Ok(task) => Ok(task.await.map_err(Failure::Died)??),
            Err(reason) => Err(reason),
        };
        Ok(Answered { number, ends_at, entry })
    }
}

fn spawn(id: ClaimId, bank: &Bank) -> JoinHandle<storagebox::Result<Entry>> {
    let bank = bank.clone();
    tokio::spawn(async move { take(id, &bank).await })
}

pub(crate) async fn take(id: ClaimId, bank: &Bank) -> storagebox::Result<Entry> {
    let answer = match bank.assign(&id).await? {
        Taken::New(held) => Answer::New(held.item),
        Taken::Again(held) => again(&id, held, bank).await?,
        Taken::Empty => Answer::Empty,
        Taken::Ended(_) => Answer::Ended,
    };
    Ok(Entry { id, answer })
}

/// Makes a hold for a while permanent, which a take does not (IB-3). Otherwise the item would become free, and another
/// id would get it too.
async fn again(id: &ClaimId, held: Held, bank: &Bank) -> storagebox::Result<Answer> {
    if !matches!(held.hold, HoldState::Remaining(_)) {
        return Ok(Answer::Again(held.item));
    }
    Ok(match bank.extend(id).forever().await? {
        Extended::Extended(held) | Extended::Confirmed(held) => Answer::Again(held.item),
        // `Unknown`: the claim ended after the take, and its id was freed.
        Extended::Ended(_) | Extended::Unknown => Answer::Ended,
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
