//! The arguments of `token ...`.

use clap::{Args, Subcommand};
use storagebox::values::TokenId;
use storagebox::{Error, OpId};

use super::file::OfFile;
use super::namespace::OfNamespace;
use super::value::without_line_end;
use super::{FILES, op_id};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Create tokens; live tokens stay as they are, and consumed ones stay consumed
    #[command(after_help = format!("Exits with 1 if some tokens are consumed or discarded already.\n\n{FILES}"))]
    Create(Tokens),
    /// Check whether a token is live
    #[command(after_help = "Exits with 1 if it is not.")]
    Exists(OfToken),
    Consume(Consume),
    /// Discard tokens, so that nobody consumes them
    #[command(after_help = format!("\
A token that was never created is discarded too: a late `token create` does not create it.\n\n{FILES}"))]
    Discard(Tokens),
}

impl Token {
    /// Returns the namespace of the tokens.
    pub(crate) fn of(&self) -> &OfNamespace {
        match self {
            Self::Create(args) | Self::Discard(args) => &args.of,
            Self::Exists(args) => &args.of,
            Self::Consume(args) => &args.token.of,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfToken {
    #[command(flatten)]
    pub of: OfNamespace,
    /// The token, such as the id of a message
    #[arg(value_name = "TOKEN", value_parser = token_id)]
    pub token: TokenId,
}

#[derive(Debug, Args)]
pub(crate) struct Tokens {
    #[command(flatten)]
    pub of: OfNamespace,
    /// The tokens, such as the ids of messages
    #[arg(value_name = "TOKEN", value_parser = token_id, required_unless_present = "file", conflicts_with = "file")]
    pub tokens: Vec<TokenId>,
    #[command(flatten)]
    pub file: OfFile,
}

/// Consume a token for one operation
#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if another operation consumed the token, or it was never created.")]
pub(crate) struct Consume {
    #[command(flatten)]
    pub token: OfToken,
    /// Id of the operation, such as a worker's attempt; the same for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
}

fn token_id(text: &str) -> Result<TokenId, Error> {
    TokenId::new(without_line_end(text)?)
}
