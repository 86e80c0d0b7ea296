//! `storagebox bank load`: puts a file of items into a bank.

use storagebox::{Retry, Store};

use crate::answer::Answer;
use crate::cli::Load;
use crate::commands::load::{Loaded, load};
use crate::commands::loss_aware::LossAwareBank;
use crate::exit::{Exit, Failure};
use crate::input::{Lines, Source};
use crate::output::Reserved;
use crate::rejects::Rejects;

pub(super) async fn run(args: &Load, store: &Store, reserved: &Reserved) -> Result<Answer, Failure> {
    let items = Source::named(&args.items);
    let reserved = reserved.clone().and_input(&items)?;
    let mut rejects = Rejects::at(args.rejects.as_deref(), &items, &reserved)?;
    let bank = LossAwareBank::open(store, &args.of.name, Retry::default())?;
    let lines = Lines::open(&items, args.header).await?;
    let Loaded { added, already_there, .. } = load(lines, &bank, &mut rejects).await?;
    let rejected = rejects.rejected();
    rejects.publish()?;
    let answer = Answer::new(rejected.exit(Exit::Done)).text("namespace", &args.of.name).figure("items_added", added);
    Ok(answer.figure("already_there", already_there).figure("rejected_lines", rejected.lines))
}
