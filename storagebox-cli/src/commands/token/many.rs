//! `storagebox token create` and `discard`: tokens from the command line, or a file of them.

use storagebox::{Created, Discarded, parts::TokenStore};

use crate::answer::Answer;
use crate::cli::Tokens;
use crate::commands::batches::Batches;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;
use crate::retry;
use crate::step::Step;

pub(super) async fn create(args: &Tokens, tokens: &dyn TokenStore, reserved: &Reserved) -> Result<Answer, Failure> {
    let mut total = Created::default();
    let mut batches = Batches::of(args.tokens.clone(), &args.file, "creating", reserved).await?;
    while let Some(batch) = batches.next().await? {
        let created = retry::named(Step::CreateTokens, || tokens.create_tokens(&batch)).await?;
        total.created += created.created;
        total.already_live += created.already_live;
        total.gone += created.gone;
    }
    let rejected = batches.end()?;
    let exit = if total.gone == 0 { Exit::Done } else { Exit::Nothing };
    let answer = Answer::new(exit).text("namespace", &args.of.name).figure("created", total.created);
    let answer = answer.figure("already_live", total.already_live).figure("gone", total.gone);
    Ok(answer.figure("rejected_lines", rejected))
}

pub(super) async fn discard(args: &Tokens, tokens: &dyn TokenStore, reserved: &Reserved) -> Result<Answer, Failure> {
    let mut total = Discarded::default();
    let mut batches = Batches::of(args.tokens.clone(), &args.file, "discarding", reserved).await?;
    while let Some(batch) = batches.next().await? {
        let discarded = retry::named(Step::Discard, || tokens.discard(&batch)).await?;
        total.discarded += discarded.discarded;
        total.already_gone += discarded.already_gone;
    }
    let rejected = batches.end()?;
    let answer = Answer::new(Exit::Done).text("namespace", &args.of.name).figure("discarded", total.discarded);
    Ok(answer.figure("already_gone", total.already_gone).figure("rejected_lines", rejected))
}
