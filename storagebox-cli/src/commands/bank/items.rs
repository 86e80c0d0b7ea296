//! `storagebox bank withdraw` and `restore`: items that are set aside, and free again.

use storagebox::{Item, Restored, Withdrawn, parts::BankAdmin};

use crate::answer::Answer;
use crate::cli::OfItems;
use crate::commands::batches::Batches;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;
use crate::retry;
use crate::step::Step;

pub(super) async fn withdraw(args: &OfItems, bank: &dyn BankAdmin, reserved: &Reserved) -> Result<Answer, Failure> {
    let (items, mut total) = (given(args)?, Withdrawn::default());
    let mut batches = Batches::of(items, &args.file, "withdrawing", reserved).await?;
    while let Some(batch) = batches.next().await? {
        let withdrawn = retry::harmless(Step::Withdraw, || bank.withdraw(&batch)).await?;
        total.withdrawn += withdrawn.withdrawn;
        total.already_withdrawn += withdrawn.already_withdrawn;
        total.in_use += withdrawn.in_use;
        total.unknown += withdrawn.unknown;
    }
    let rejected = batches.end()?;
    let answer = counted(args, total.in_use + total.unknown).figure("withdrawn", total.withdrawn);
    let answer = answer.figure("already_withdrawn", total.already_withdrawn).figure("in_use", total.in_use);
    Ok(answer.figure("unknown", total.unknown).figure("rejected_lines", rejected))
}

pub(super) async fn restore(args: &OfItems, bank: &dyn BankAdmin, reserved: &Reserved) -> Result<Answer, Failure> {
    let (items, mut total) = (given(args)?, Restored::default());
    let mut batches = Batches::of(items, &args.file, "restoring", reserved).await?;
    while let Some(batch) = batches.next().await? {
        let restored = retry::harmless(Step::Restore, || bank.restore(&batch)).await?;
        total.restored += restored.restored;
        total.not_withdrawn += restored.not_withdrawn;
        total.unknown += restored.unknown;
    }
    let rejected = batches.end()?;
    let answer = counted(args, total.unknown).figure("restored", total.restored);
    let answer = answer.figure("not_withdrawn", total.not_withdrawn).figure("unknown", total.unknown);
    Ok(answer.figure("rejected_lines", rejected))
}

fn given(args: &OfItems) -> Result<Vec<Item>, Failure> {
    args.items.iter().map(|item| Item::new(item.as_str())).collect::<Result<_, _>>().map_err(Failure::Argument)
}

/// The answer is no if some items are not as was wanted, however often it is asked.
fn counted(args: &OfItems, left: u64) -> Answer {
    let exit = if left == 0 { Exit::Done } else { Exit::Nothing };
    Answer::new(exit).text("namespace", &args.of.name)
}
