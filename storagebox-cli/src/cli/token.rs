//! The arguments of `token ...`.

use clap::{Args, Subcommand};
use storagebox::{BoxName, Error, OpId, TokenId};

use super::file::OfFile;
use super::{EXIT_CODES, FILES, box_name, op_id};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make tokens; those that live are left as they are, and those that are gone stay gone: exit 1 if there are such
    #[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
    Create(Tokens),
    /// Whether a token lives; exit 1 if it does not
    #[command(after_help = EXIT_CODES)]
    Exists(OfToken),
    Consume(Consume),
    /// End tokens that nobody is to consume any more; those that were never made are fenced, so that no late `create`
    /// makes them
    #[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
    Discard(Tokens),
}

impl Token {
    /// The tokens that it is about.
    pub(crate) fn of(&self) -> &OfTokens {
        match self {
            Self::Create(args) | Self::Discard(args) => &args.of,
            Self::Exists(args) => &args.of,
            Self::Consume(args) => &args.token.of,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OfTokens {
    /// The box of tokens
    #[arg(long = "box", value_name = "NAME", default_value = "tokens", value_parser = box_name)]
    pub name: BoxName,
}

#[derive(Debug, Args)]
pub(crate) struct OfToken {
    #[command(flatten)]
    pub of: OfTokens,
    /// The token, such as a message's id; write `--` before one that begins with `-`
    #[arg(value_name = "TOKEN", value_parser = token_id)]
    pub token: TokenId,
}

#[derive(Debug, Args)]
pub(crate) struct Tokens {
    #[command(flatten)]
    pub of: OfTokens,
    /// The tokens; write `--` before one that begins with `-`
    #[arg(value_name = "TOKEN", value_parser = token_id, required_unless_present = "file", conflicts_with = "file")]
    pub tokens: Vec<TokenId>,
    #[command(flatten)]
    pub file: OfFile,
}

/// End a token, for one operation alone; exit 1 if it was ended by another, or never was
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Consume {
    #[command(flatten)]
    pub token: OfToken,
    /// Who consumes it, such as a worker's attempt: the same one for every retry
    #[arg(long, value_name = "OP", value_parser = op_id)]
    pub op: OpId,
}

fn token_id(text: &str) -> Result<TokenId, Error> {
    TokenId::new(text)
}
