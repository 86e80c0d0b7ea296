//! `storagebox bank load`: puts a file of items into a bank.

use storagebox::Bank;
use storagebox::values::Item;

use crate::answer::Answer;
use crate::cli::Load;
use crate::commands::batches::Batches;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;

pub(super) async fn run(args: &Load, bank: &Bank, reserved: &Reserved) -> Result<Answer, Failure> {
    let Load { of, items, lines } = args;
    let batches = Batches::of_file(items, lines.rejects.as_deref(), lines.header, "loading", reserved).await?;
    let summed = batches.sum(|batch: Vec<Item>| async move {
        let done = bank.add(&batch).await?;
        Ok([done.added, done.already_present])
    });
    let ([added, already_there], rejected) = summed.await?;
    let answer = Answer::new(rejected.exit(Exit::Done)).text("namespace", &of.name).figure("items_added", added);
    Ok(answer.figure("already_there", already_there).figure("rejected_lines", rejected.lines))
}
