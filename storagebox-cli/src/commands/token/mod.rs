//! `storagebox token ...`: tokens that are made ahead and consumed once.

mod many;
#[cfg(test)]
mod tests;

use std::io::Write;

use storagebox::{
    Consumed,
    parts::{Backend, TokenStore},
};

use crate::answer::Answer;
use crate::cli::{Consume, Global, OfToken, Token};
use crate::exit::{Exit, Failure};
use crate::output::Reserved;
use crate::retry;
use crate::step::Step;
use crate::store;
use crate::terminal;

pub(crate) async fn run(command: Token, global: &Global) -> Result<Exit, Failure> {
    let reserved = store::reserved(global)?;
    let store = store::ready(global).await?;
    let asked = ask(command, &*store, &reserved, global.json, &mut terminal::stdout(global.json)).await;
    store::closed(&*store, asked).await
}

async fn ask(
    command: Token,
    store: &dyn Backend,
    reserved: &Reserved,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    let tokens = store.token_store(&command.of().name).map_err(|error| Step::OpenNamespace.failed(error))?;
    let answer = match command {
        Token::Create(args) => many::create(&args, &*tokens, reserved).await?,
        Token::Discard(args) => many::discard(&args, &*tokens, reserved).await?,
        Token::Exists(args) => exists(&args, &*tokens).await?,
        Token::Consume(args) => consume(&args, &*tokens).await?,
    };
    answer.print(to, as_json)
}

async fn exists(args: &OfToken, tokens: &dyn TokenStore) -> Result<Answer, Failure> {
    let lives = retry::harmless(Step::LookForToken, || tokens.exists(&args.token)).await?;
    Ok(match lives {
        true => outcome(args, Exit::Done, "live"),
        false => outcome(args, Exit::Nothing, "absent"),
    })
}

async fn consume(args: &Consume, tokens: &dyn TokenStore) -> Result<Answer, Failure> {
    let Consume { token, op } = args;
    let consumed = retry::named(Step::Consume, || tokens.consume(&token.token, op)).await?;
    Ok(match consumed {
        Consumed::Now => outcome(token, Exit::Done, "now"),
        Consumed::Again => outcome(token, Exit::Done, "again"),
        Consumed::AlreadyGone => outcome(token, Exit::Nothing, "already_gone"),
    })
}

fn outcome(of: &OfToken, exit: Exit, outcome: &'static str) -> Answer {
    Answer::new(exit).text("namespace", &of.of.name).text("token", &of.token).word("outcome", outcome)
}
