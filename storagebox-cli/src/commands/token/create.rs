//! `storagebox token create`: tokens from the command line, or a file of them.

use std::path::Path;

use storagebox::{Created, TokenId, TokenStore};
use tokio::task::yield_now;

use crate::answer::Answer;
use crate::cli::Create;
use crate::exit::{Exit, Failure};
use crate::input::{Lines, Source};
use crate::output::Reserved;
use crate::progress::Progress;
use crate::rejects::Rejects;
use crate::retry;
use crate::step::Step;

const BATCH: usize = 1_000;

pub(super) async fn run(
    args: &Create,
    tokens: &dyn TokenStore,
    reserved: &Reserved,
) -> Result<Answer, Failure> {
    let mut total = Created::default();
    let mut rejected = 0;
    match &args.file {
        Some(file) => rejected = of_file(file, args, tokens, reserved, &mut total).await?,
        None => create(&args.tokens, tokens, &mut total).await?,
    }
    let exit = if total.gone == 0 { Exit::Done } else { Exit::Nothing };
    let answer = Answer::new(exit).text("box", &args.of.name).figure("created", total.created);
    let answer = answer.figure("already_live", total.already_live).figure("gone", total.gone);
    Ok(answer.figure("rejected_lines", rejected))
}

/// How many lines could not be used.
async fn of_file(
    file: &Path,
    args: &Create,
    tokens: &dyn TokenStore,
    reserved: &Reserved,
    total: &mut Created,
) -> Result<u64, Failure> {
    let source = Source::named(file);
    let reserved = reserved.clone().and_input(&source)?;
    let mut rejects = Rejects::at(args.rejects.as_deref(), &source, &reserved)?;
    create_lines(Lines::open(&source, args.header).await?, tokens, &mut rejects, total).await?;
    let rejected = rejects.count();
    rejects.publish()?;
    Ok(rejected)
}

async fn create_lines(
    mut lines: Lines,
    tokens: &dyn TokenStore,
    rejects: &mut Rejects,
    total: &mut Created,
) -> Result<(), Failure> {
    let progress = Progress::of_lines("creating", lines.bytes());
    let mut batch = Vec::with_capacity(BATCH);
    while let Some(line) = lines.next_line().await? {
        match line.value {
            Ok(token) => batch.push(token),
            Err(reason) => rejects.add(lines.source(), line.number, reason)?,
        }
        progress.line(line.ends_at);
        if batch.len() == BATCH {
            create(&batch, tokens, total).await?;
            batch.clear();
            // A store that never waits must not keep the program from hearing an interrupt.
            yield_now().await;
        }
    }
    create(&batch, tokens, total).await
}

async fn create(batch: &[TokenId], tokens: &dyn TokenStore, total: &mut Created) -> Result<(), Failure> {
    let created = retry::named(Step::CreateTokens, || tokens.create_tokens(batch)).await?;
    total.created += created.created;
    total.already_live += created.already_live;
    total.gone += created.gone;
    Ok(())
}
