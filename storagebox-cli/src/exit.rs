//! How a command ends, for scripts and for people.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use storagebox::{Error, ErrorKind};

use crate::commands::hand_out::audit::Mismatch;

/// The exit codes that `--help` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    SomeGotNothing,
    BadInput,
    StoreFailed,
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::SomeGotNothing => 1,
            Exit::BadInput => 2,
            Exit::StoreFailed => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// Why a command could not do its work. The text never holds an item.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("--items and --ids cannot both be standard input")]
    StandardInputTwice,
    #[error("{} would overwrite {}, which is read", .output.display(), .input.display())]
    OverwritesInput { output: PathBuf, input: PathBuf },
    #[error("--out and --rejects are the same file")]
    OutIsRejects,
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    #[error("there is no directory {}", .0.display())]
    NoDirectory(PathBuf),
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: io::Error },
    #[error("cannot write {}: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot write to standard output: {0}")]
    Print(io::Error),
    #[error("cannot open the store: {}", .0.message())]
    Open(Error),
    #[error("the store failed: {}", .0.message())]
    Store(Error),
    #[error("the audit failed: {}", list(.0))]
    Audit(Vec<Mismatch>),
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    #[error("interrupted")]
    Interrupted,
    #[error("a task of this program died: {0}")]
    Died(tokio::task::JoinError),
}

impl Failure {
    /// Tells the person, and answers with the exit code.
    pub(crate) fn report(&self) -> Exit {
        crate::progress::say(format_args!("error: {self}"));
        crate::progress::say(format_args!("help: {}", self.help()));
        self.exit()
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Open(error) if is_usage(error) => Exit::BadInput,
            Self::Open(_) | Self::Store(_) | Self::Audit(_) | Self::Died(_) => Exit::StoreFailed,
            Self::Interrupted => Exit::Interrupted,
            _ => Exit::BadInput,
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Self::StandardInputTwice => "give one of them as a file",
            Self::OverwritesInput { .. } | Self::OutIsRejects => "choose another name for the output",
            Self::NotAFile(_) => "name a regular file, or one that does not exist yet",
            Self::NoDirectory(_) => "create the directory, or choose another one",
            Self::Read { .. } => "check the name and the rights of the file; nothing was written",
            Self::Write { .. } => {
                "check the directory's rights and the space left, then run the same command again"
            }
            Self::Print(_) => "the output files are complete; only the audit could not be shown",
            Self::Open(error) if is_usage(error) => {
                "pass --url memory: or set STORAGEBOX_URL to a store of this build"
            }
            Self::Open(_) => "check --url or STORAGEBOX_URL and that the store can be reached",
            Self::Store(error) if error.kind() == ErrorKind::NotSetUp => {
                "set the store up once, then run this again"
            }
            Self::Store(_) => "run the same command again once the store is well: nobody gets a second item",
            Self::Audit(_) => {
                "--out was not written; if another program works with this bank, run without --alone, otherwise \
                 look into the store before anything is sent out"
            }
            Self::Runtime(_) => "check the limits on threads and open files",
            Self::Interrupted => {
                "the files are as they were; on a store that lasts, the same command carries on"
            }
            Self::Died(_) => "run the same command again: nobody gets a second item",
        }
    }
}

fn is_usage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported)
}

fn list(mismatches: &[Mismatch]) -> String {
    let lines: Vec<_> = mismatches.iter().map(ToString::to_string).collect();
    lines.join("; ")
}
