//! `storagebox token ...`: tokens that are created first and consumed once.

mod many;
#[cfg(test)]
mod tests;

use storagebox::{Consumed, Store, Tokens, async_trait};

use super::store_command::{Output, StoreCommand};
use crate::answer::Answer;
use crate::cli::{Consume, OfToken, Token};
use crate::exit::{Exit, Failure};

#[async_trait]
impl StoreCommand for Token {
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let tokens = &store.tokens(&self.of().name)?;
        let answer = match self {
            Token::Create(args) => many::create(&args, tokens, out.reserved).await?,
            Token::Discard(args) => many::discard(&args, tokens, out.reserved).await?,
            Token::Exists(args) => exists(&args, tokens).await?,
            Token::Consume(args) => consume(&args, tokens).await?,
        };
        out.print(answer)
    }
}

async fn exists(args: &OfToken, tokens: &Tokens) -> Result<Answer, Failure> {
    Ok(match tokens.exists(&args.token).await? {
        true => outcome(args, Exit::Done, "live"),
        false => outcome(args, Exit::Nothing, "absent"),
    })
}

async fn consume(args: &Consume, tokens: &Tokens) -> Result<Answer, Failure> {
    let Consume { token, op } = args;
    Ok(match tokens.consume(&token.token).by(op).await? {
        Consumed::Now => outcome(token, Exit::Done, "now"),
        Consumed::Again => outcome(token, Exit::Done, "again"),
        Consumed::AlreadyGone => outcome(token, Exit::Nothing, "already_gone"),
    })
}

fn outcome(of: &OfToken, exit: Exit, outcome: &'static str) -> Answer {
    Answer::new(exit).text("namespace", &of.of.name).text("token", &of.token).word("outcome", outcome)
}
