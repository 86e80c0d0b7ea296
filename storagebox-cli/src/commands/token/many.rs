//! `storagebox token create` and `discard`: tokens from the command line or a file.

use storagebox::Tokens;

use crate::answer::Answer;
use crate::cli;
use crate::commands::batches::Batches;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;

pub(super) async fn create(args: &cli::Tokens, tokens: &Tokens, reserved: &Reserved) -> Result<Answer, Failure> {
    let batches = Batches::of(args.tokens.clone(), &args.file, "creating", reserved).await?;
    let summed = batches.sum(|batch| async move {
        let done = tokens.create(&batch).await?;
        Ok([done.created, done.already_live, done.gone])
    });
    let ([created, already_live, gone], rejected) = summed.await?;
    let exit = if gone == 0 { Exit::Done } else { Exit::Nothing };
    let answer = Answer::new(rejected.exit(exit)).text("namespace", &args.of.name).figure("created", created);
    let answer = answer.figure("already_live", already_live).figure("gone", gone);
    Ok(answer.figure("rejected_lines", rejected.lines))
}

pub(super) async fn discard(args: &cli::Tokens, tokens: &Tokens, reserved: &Reserved) -> Result<Answer, Failure> {
    let batches = Batches::of(args.tokens.clone(), &args.file, "discarding", reserved).await?;
    let summed = batches.sum(|batch| async move {
        let done = tokens.discard(&batch).await?;
        Ok([done.discarded, done.already_gone])
    });
    let ([discarded, already_gone], rejected) = summed.await?;
    let answer = Answer::new(rejected.exit(Exit::Done)).text("namespace", &args.of.name).figure("discarded", discarded);
    Ok(answer.figure("already_gone", already_gone).figure("rejected_lines", rejected.lines))
}
