//! `storagebox bank reclaim`: ends the claims of a file of ids, and frees their items.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use storagebox::values::ClaimId;
use storagebox::{Bank, Released};

use crate::answer::Answer;
use crate::cli::Reclaim;
use crate::exit::{Exit, Failure};
use crate::input::{Lines, Source};
use crate::output::Reserved;
use crate::progress::Progress;
use crate::rejects::{Rejected, Rejects};

/// How many ids are read before their claims are ended.
const BATCH: usize = 1_000;
/// How many claims are ended at once.
const CONCURRENCY: usize = 64;

/// What became of the claims, a line each.
#[derive(Clone, Copy, Debug, Default)]
struct Reclaimed {
    released: u64,
    expired: u64,
    confirmed: u64,
}

pub(super) async fn run(args: &Reclaim, bank: &Bank, reserved: &Reserved) -> Result<Answer, Failure> {
    let ids = Source::named(&args.ids);
    let reserved = reserved.clone().and_input(&ids)?;
    let mut rejects = Rejects::at(args.rejects.as_deref(), &ids, &reserved)?;
    let lines = Lines::open(&ids, args.header).await?;
    let reclaimed = reclaim(lines, bank, &mut rejects).await?;
    let rejected = rejects.rejected();
    rejects.publish()?;
    Ok(answer(args, reclaimed, rejected))
}

async fn reclaim(mut lines: Lines, bank: &Bank, rejects: &mut Rejects) -> Result<Reclaimed, Failure> {
    let progress = Progress::of_lines("reclaiming", lines.bytes());
    let mut reclaimed = Reclaimed::default();
    let mut batch = Vec::with_capacity(BATCH);
    while let Some(line) = lines.next_line().await? {
        match line.value {
            Ok(id) => batch.push(id),
            Err(reason) => rejects.add(lines.source(), line.number, &reason)?,
        }
        progress.line(line.ends_at);
        if batch.len() == BATCH {
            reclaimed.release(std::mem::take(&mut batch), bank).await?;
        }
    }
    reclaimed.release(batch, bank).await?;
    Ok(reclaimed)
}

impl Reclaimed {
    async fn release(&mut self, ids: Vec<ClaimId>, bank: &Bank) -> Result<(), Failure> {
        let releases = stream::iter(ids).map(|id| bank.release(id));
        let mut releases = releases.buffer_unordered(CONCURRENCY);
        while let Some(released) = releases.try_next().await? {
            *match released {
                Released::Released => &mut self.released,
                Released::Expired => &mut self.expired,
                Released::Confirmed => &mut self.confirmed,
            } += 1;
        }
        // A store that never waits must not keep the program from hearing an interrupt.
        tokio::task::yield_now().await;
        Ok(())
    }
}

fn answer(args: &Reclaim, reclaimed: Reclaimed, rejected: Rejected) -> Answer {
    let Reclaimed { released, expired, confirmed } = reclaimed;
    let exit = if confirmed == 0 { Exit::Done } else { Exit::Nothing };
    let answer = Answer::new(rejected.exit(exit)).text("namespace", &args.of.name).figure("released", released);
    let answer = answer.figure("expired", expired).figure("confirmed", confirmed);
    answer.figure("rejected_lines", rejected.lines)
}
