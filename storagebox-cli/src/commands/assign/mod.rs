//! `storagebox assign` and `recover`: one item for an id, of several banks.

#[cfg(test)]
mod tests;

use std::io::Write;

use storagebox::bank::Recovery;
use storagebox::{Assigned, Store};

use crate::answer::Answer;
use crate::cli::{Assign, Global, Recover};
use crate::exit::{Exit, Failure};
use crate::step::{ASSIGN, RECOVER};
use crate::store;
use crate::terminal;

/// Records of one page of a recovery.
const PAGE: usize = 1_000;

pub(crate) async fn assign(args: Assign, global: &Global) -> Result<Exit, Failure> {
    let store = store::ready(global).await?;
    let assigned = assign_of(&args, &store).await;
    store::closed(&store, print(assigned, global)).await
}

pub(crate) async fn recover(args: Recover, global: &Global) -> Result<Exit, Failure> {
    let store = store::ready(global).await?;
    let recovered = recover_of(&args, &store).await;
    store::closed(&store, print(recovered, global)).await
}

fn print(answer: Result<Answer, Failure>, global: &Global) -> Result<Exit, Failure> {
    let to: &mut dyn Write = &mut terminal::stdout(global.json);
    answer.and_then(|answer| answer.print(to, global.json))
}

async fn assign_of(args: &Assign, store: &Store) -> Result<Answer, Failure> {
    let deduplicator = store.deduplicator(&args.of.name, &args.from.banks)?;
    for bank in &args.from.banks {
        match deduplicator.assign(&args.id, bank).await.map_err(|error| error.during(ASSIGN))? {
            Assigned::New { bank, item } => {
                return Ok(outcome(args, Exit::Done, "new").text("bank", bank).text("item", item));
            }
            Assigned::Again { bank, item } => {
                return Ok(outcome(args, Exit::Done, "again").text("bank", bank).text("item", item));
            }
            Assigned::Empty => {}
        }
    }
    Ok(outcome(args, Exit::Nothing, "empty"))
}

fn outcome(args: &Assign, exit: Exit, outcome: &'static str) -> Answer {
    Answer::new(exit).text("namespace", &args.of.name).text("id", &args.id).word("outcome", outcome)
}

/// A page at a time, so that an interrupt finds its place; what is finished stays finished.
async fn recover_of(args: &Recover, store: &Store) -> Result<Answer, Failure> {
    let deduplicator = store.deduplicator(&args.of.name, &args.from.banks)?;
    let (mut total, mut cursor) = (Recovery::default(), None);
    loop {
        let page = deduplicator.recover(cursor.as_ref(), PAGE).await.map_err(|error| error.during(RECOVER))?;
        total.seen += page.seen;
        total.finished += page.finished;
        total.given_up += page.given_up;
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let answer = Answer::new(Exit::Done).text("namespace", &args.of.name).figure("seen", total.seen);
    Ok(answer.figure("finished", total.finished).figure("given_up", total.given_up))
}
