//! `storagebox bank load`: puts a file of items into a bank.

use storagebox::BankAdmin;

use crate::answer::Answer;
use crate::cli::Load;
use crate::commands::load::{Loaded, load};
use crate::exit::{Exit, Failure};
use crate::input::{Lines, Source};
use crate::output::Target;
use crate::rejects::{self, Rejects};

pub(super) async fn run(args: &Load, bank: &dyn BankAdmin) -> Result<Answer, Failure> {
    let items = Source::named(&args.items);
    let list = args.rejects.clone().unwrap_or_else(|| rejects::beside(&items));
    let target = Target::at(&list)?;
    if let Source::File(input) = &items {
        target.keep_apart(input)?;
    }
    let lines = Lines::open(&items, args.header).await?;
    let mut rejects = Rejects::new(target);
    let Loaded { added, already_there, .. } = load(lines, bank, &mut rejects).await?;
    let rejected = rejects.count();
    rejects.publish()?;
    rejects::warn(rejected, &list);
    let answer = Answer::new(Exit::Done).text("bank", &args.of.bank).figure("items_added", added);
    Ok(answer.figure("already_there", already_there).figure("rejected_lines", rejected))
}
