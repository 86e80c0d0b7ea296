//! The arguments of `token ...`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use storagebox::{BoxName, Error, OpId, TokenId};

use super::{EXIT_CODES, FILES, box_name, op_id};

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    Create(Create),
    /// Whether a token lives; exit 1 if it does not
    #[command(after_help = EXIT_CODES)]
    Exists(OfToken),
    Consume(Consume),
}

impl Token {
    /// The tokens that it is about.
    pub(crate) fn of(&self) -> &OfTokens {
        match self {
            Self::Create(args) => &args.of,
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

/// Make tokens; those that live are left as they are, and those that are gone stay gone: exit 1 if there are such
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{FILES}\n\n{EXIT_CODES}"))]
pub(crate) struct Create {
    #[command(flatten)]
    pub of: OfTokens,
    /// The tokens; write `--` before one that begins with `-`
    #[arg(value_name = "TOKEN", value_parser = token_id, required_unless_present = "file", conflicts_with = "file")]
    pub tokens: Vec<TokenId>,
    /// A file of tokens, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Where to list the lines that could not be used [default: the name of --file, without .csv, and .rejects.csv; for
    /// standard input storagebox.rejects.csv]
    #[arg(long, value_name = "FILE", requires = "file")]
    pub rejects: Option<PathBuf>,
    /// The first line of the file is a header
    #[arg(long, requires = "file")]
    pub header: bool,
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
