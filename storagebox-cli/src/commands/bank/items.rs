//! `storagebox bank withdraw` and `restore`: withdraws items, and makes them free again.

use storagebox::Bank;
use storagebox::values::Item;

use crate::answer::Answer;
use crate::cli::{OfItems, without_line_end};
use crate::commands::batches::Batches;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;
use crate::rejects::Rejected;

pub(super) async fn withdraw(args: &OfItems, bank: &Bank, reserved: &Reserved) -> Result<Answer, Failure> {
    let batches = Batches::of(given(args)?, &args.file, "withdrawing", reserved).await?;
    let summed = batches.sum(|batch| async move {
        let done = bank.withdraw(&batch).await?;
        Ok([done.withdrawn, done.already_withdrawn, done.in_use, done.unknown])
    });
    let ([withdrawn, already_withdrawn, in_use, unknown], rejected) = summed.await?;
    let answer = counted(args, in_use + unknown, rejected).figure("withdrawn", withdrawn);
    let answer = answer.figure("already_withdrawn", already_withdrawn).figure("in_use", in_use);
    Ok(answer.figure("unknown", unknown).figure("rejected_lines", rejected.lines))
}

pub(super) async fn restore(args: &OfItems, bank: &Bank, reserved: &Reserved) -> Result<Answer, Failure> {
    let batches = Batches::of(given(args)?, &args.file, "restoring", reserved).await?;
    let summed = batches.sum(|batch| async move {
        let done = bank.restore(&batch).await?;
        Ok([done.restored, done.not_withdrawn, done.unknown])
    });
    let ([restored, not_withdrawn, unknown], rejected) = summed.await?;
    let answer = counted(args, unknown, rejected).figure("restored", restored).figure("not_withdrawn", not_withdrawn);
    Ok(answer.figure("unknown", unknown).figure("rejected_lines", rejected.lines))
}

fn given(args: &OfItems) -> storagebox::Result<Vec<Item>> {
    args.items.iter().map(|item| without_line_end(item).and_then(Item::new)).collect()
}

/// Returns an answer without figures. The exit code is 1 if some items could not be changed.
fn counted(args: &OfItems, left: u64, rejected: Rejected) -> Answer {
    let exit = if left == 0 { Exit::Done } else { Exit::Nothing };
    Answer::new(rejected.exit(exit)).text("namespace", &args.of.name)
}
