//! `storagebox assign` and `recover`: one item per id, from several banks.

#[cfg(test)]
mod tests;

use storagebox::bank::Recovery;
use storagebox::{Assigned, Store, async_trait};

use crate::answer::Answer;
use crate::cli::{Assign, Recover};
use crate::commands::store_command::{Output, StoreCommand};
use crate::exit::{Exit, Failure};
use crate::step::{ASSIGN, RECOVER};

const PAGE: usize = 1_000;

#[async_trait]
impl StoreCommand for Assign {
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let deduplicator = store.deduplicator(&self.of.name, &self.from.banks)?;
        for bank in &self.from.banks {
            let assigned = deduplicator.assign(&self.id, bank).await.map_err(|error| error.during(ASSIGN))?;
            let (outcome, bank, item) = match assigned {
                Assigned::New { bank, item } => ("new", bank, item),
                Assigned::Again { bank, item } => ("again", bank, item),
                Assigned::Empty => continue,
            };
            return out.print(answer(&self, Exit::Done, outcome).text("bank", bank).text("item", item));
        }
        out.print(answer(&self, Exit::Nothing, "empty"))
    }
}

fn answer(args: &Assign, exit: Exit, outcome: &'static str) -> Answer {
    Answer::new(exit).text("namespace", &args.of.name).text("id", &args.id).word("outcome", outcome)
}

#[async_trait]
impl StoreCommand for Recover {
    /// Recovers page by page, so that a signal can interrupt the command between two pages.
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let deduplicator = store.deduplicator(&self.of.name, &self.from.banks)?;
        let (mut total, mut failed, mut cursor) = (Recovery::default(), 0_u64, None);
        loop {
            let page = deduplicator.recover(cursor.as_ref(), PAGE).await.map_err(|error| error.during(RECOVER))?;
            total.seen += page.seen;
            total.finished += page.finished;
            total.given_up += page.given_up;
            failed += page.failed.len() as u64;
            total.failed.extend(page.failed.into_iter().take(usize::from(total.failed.is_empty())));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let answer = Answer::new(Exit::Done).text("namespace", &self.of.name).figure("seen", total.seen);
        let answer = answer.figure("finished", total.finished).figure("given_up", total.given_up);
        let exit = out.print(answer.figure("failed", failed))?;
        total.failed.pop().map_or(Ok(exit), |first| Err(first.during(RECOVER).into()))
    }
}
