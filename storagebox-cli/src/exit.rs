//! How a command ends: exit codes, errors and advice.

mod after;
mod code;
mod run;

use std::borrow::Cow;
use std::error::Error as _;
use std::io;
use std::iter::successors;
use std::path::{Path, PathBuf};

use storagebox::values::ClaimId;
use storagebox::{Certainty, Error, ErrorKind};

use crate::answer::{Answer, Field};
use crate::check::Mismatch;
use crate::doubt::Doubt;
use crate::input::{Foreign, Reason};
use crate::message::{Kind, eprint_json, eprint_lines, eprint_message};
use crate::step::{help, phrase};
use crate::text::printable;

pub(crate) use code::Exit;
pub(crate) use run::RunFailure;

/// Why a command could not do its work. The text never contains an item.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the store is not known here: `dedup run` does not hand STORAGEBOX_URL on to its command")]
    UrlWithheld,
    #[error("--items and --ids cannot both be standard input")]
    StandardInputTwice,
    #[error("{} would overwrite {}, which is read", .output.display(), .input)]
    OverwritesInput { output: PathBuf, input: String },
    #[error("{} is the store's own file", .0.display())]
    IsTheStores(PathBuf),
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    #[error("--out and --rejects are the same file")]
    OutIsRejects,
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    #[error("there is no directory {}", .0.display())]
    NoDirectory(PathBuf),
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: io::Error },
    #[error("{path}, line {line}: {foreign}")]
    Foreign { path: String, line: u64, foreign: Foreign },
    #[error("{path} has no line that can be used{}", line_of(.first.as_ref()))]
    NoLine { path: String, first: Option<(u64, Reason)> },
    #[error("cannot write {}: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot write to {}: {source}", .to.display())]
    Pass { to: PathBuf, source: io::Error },
    #[error("{path} holds more than 262144 bytes, the most that a value may have")]
    LongValue { path: String },
    #[error("cannot write to standard output: {0}")]
    Print(io::Error),
    #[error("{}", .0.message())]
    Argument(Error),
    #[error("cannot {}{}: {}", phrase(.0), on(.0), .0.message())]
    Store(Error),
    /// The store failed, and calls before this one or beside it may have changed it.
    #[error("cannot {}{}: {}", phrase(.error), on(.error), .error.message())]
    InDoubt { error: Error, cause: Option<String>, help: Cow<'static, str> },
    #[error("the audit failed: {}", list(.0))]
    Audit(Vec<Mismatch>),
    #[error("the audit of the bank failed: {}", list(.0))]
    BankAudit(Vec<Mismatch>),
    #[error("nothing was imported: {}", list(.0))]
    NotImported(Vec<Mismatch>),
    #[error("the two banks differ: {}", list(.0))]
    NotTheSame(Vec<Mismatch>),
    #[error("the id {} did not get the item that it has in the other bank", printable(.0.as_str()))]
    TakenMeanwhile(ClaimId),
    #[error("the claim of {} ended in this bank meanwhile, so the id cannot take an item here", printable(.0.as_str()))]
    EndedMeanwhile(ClaimId),
    #[cfg(feature = "conform")]
    #[error("the suite cannot run: {0}")]
    Certify(String),
    #[cfg(feature = "conform")]
    #[error("the server {0}")]
    DoesNotConform(String),
    #[error(transparent)]
    Run(RunFailure),
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    /// [`after`](Self::after) adds the doubt, if something may have been changed.
    #[error("interrupted")]
    Interrupted(Option<Doubt>),
    #[cfg(feature = "conform")]
    #[error("interrupted")]
    NoVerdict,
    #[error("a task of this program died: {0}")]
    Died(tokio::task::JoinError),
}

/// An invalid input that was found before any call becomes `Argument`. Every other error becomes `Store`.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match (error.operation(), error.kind()) {
            (None, ErrorKind::InvalidInput | ErrorKind::TooLarge) => Self::Argument(error),
            _ => Self::Store(error),
        }
    }
}

impl Failure {
    /// Converts the failure to a failure of `dedup run`, which has its own exit codes.
    pub(crate) fn in_run(self) -> Self {
        match self {
            Self::Run(failure) => Self::Run(failure),
            other => Self::Run(RunFailure::other(other)),
        }
    }

    /// Prints the failure for a person or a program, and returns the exit code.
    pub(crate) fn report(&self, as_json: bool) -> Exit {
        match (self, as_json) {
            // Standard error is a file of the store, so a message would damage it.
            (Self::IsTheStores(path), _) if path == Path::new("/dev/stderr") => {}
            (_, true) => eprint_json(&self.answer().json()),
            (_, false) => self.tell(),
        }
        self.exit()
    }

    fn tell(&self) {
        eprint_message(Kind::Error, format_args!("{self}"));
        if let Some(cause) = self.cause() {
            eprint_lines(Kind::Cause, &cause);
        }
        eprint_message(Kind::Help, format_args!("{}", self.help()));
    }

    /// Returns the failure as JSON fields, with the details of the store's error.
    fn answer(&self) -> Answer {
        let code = self.exit().code();
        let answer = Answer::new(self.exit()).text("error", self.to_string()).text("help", self.help());
        let answer = answer.figure("exit_code", code.into());
        let answer = match self {
            Self::Run(failure) => failure
                .recorded()
                .into_iter()
                .fold(answer, |answer, recorded| answer.with("recorded", Field::Json(recorded.into()))),
            Self::Interrupted(doubt) => {
                let certainty = doubt.map_or(Certainty::NotApplied, |_| Certainty::Unknown);
                answer.text("certainty", format!("{certainty:?}"))
            }
            _ => answer,
        };
        let Some(error) = self.of_store() else { return answer };
        let answer = answer
            .text("kind", format!("{:?}", error.kind()))
            .text("certainty", format!("{:?}", error.certainty()))
            .with("retryable", Field::Json(error.is_retryable().into()))
            .with("backend", Field::Json(error.backend().into()));
        match self.cause() {
            Some(cause) => answer.text("cause", cause),
            None => answer,
        }
    }

    fn of_store(&self) -> Option<&Error> {
        match self {
            Self::Store(error) | Self::InDoubt { error, .. } => Some(error),
            Self::Run(failure) => failure.inner()?.of_store(),
            _ => None,
        }
    }

    /// Returns the message of the server or the system, if the access to the store failed.
    fn cause(&self) -> Option<String> {
        match self {
            Self::Run(failure) => failure.inner()?.cause(),
            Self::Store(error) => cause_of(error),
            Self::InDoubt { cause, .. } => cause.clone(),
            _ => None,
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Store(error) if is_usage(error) => Exit::BadInput,
            Self::Store(_) | Self::InDoubt { .. } => Exit::StoreFailed,
            Self::Audit(_) | Self::BankAudit(_) | Self::Died(_) => Exit::StoreFailed,
            Self::NotImported(_) | Self::NotTheSame(_) | Self::TakenMeanwhile(_) | Self::EndedMeanwhile(_) => {
                Exit::StoreFailed
            }
            #[cfg(feature = "conform")]
            Self::Certify(_) | Self::DoesNotConform(_) => Exit::StoreFailed,
            #[cfg(feature = "conform")]
            Self::NoVerdict => Exit::Interrupted,
            Self::Interrupted(_) => Exit::Interrupted,
            Self::Run(failure) => failure.exit(),
            _ => Exit::BadInput,
        }
    }

    /// Returns what the user does next.
    pub(crate) fn help(&self) -> Cow<'static, str> {
        let advice = match self {
            Self::UrlWithheld => {
                "give --url; or let the run have STORAGEBOX_URL and --pass-url, if nothing shows its environment"
            }
            Self::StandardInputTwice => "give one of them as a file",
            Self::OverwritesInput { .. } | Self::OutIsRejects => "choose another name for the output",
            Self::IsTheStores(_) => "choose another file: nothing but the store may read or write this one",
            Self::Exists(_) => "choose another name, or move that file away; --force replaces the file of --out",
            Self::NotAFile(_) => "name a regular file, or one that does not exist yet",
            Self::NoDirectory(_) => "create the directory, or choose another one",
            Self::Read { .. } => "check the name and the rights of the file; no file was written",
            Self::Foreign { foreign, .. } => foreign.help(),
            Self::NoLine { .. } => "give a text in UTF-8 with one value per line, or CSV; nothing of this one was used",
            Self::Write { .. } => "check the directory's rights and the space left, then run the same command again",
            Self::Pass { .. } => "the output is not complete: run the same command again",
            Self::LongValue { .. } => "store the value elsewhere, and its location or its hash here",
            Self::Run(failure) => return failure.help(),
            Self::Print(_) => "the work is done and its files are complete; only the answer could not be shown",
            Self::Argument(_) => "change the argument",
            Self::Store(error) => return help(error),
            Self::InDoubt { help, .. } => return help.clone(),
            Self::Audit(_) => {
                "--out was not written; if another program works with this bank, run without --alone, otherwise \
                 look into the store before you use the items"
            }
            Self::BankAudit(_) => {
                "if another program works with this bank, audit it at rest; otherwise look into the store before \
                 anything more is handed out"
            }
            Self::NotImported(_) => {
                "import into a bank of another name that is empty, or that holds only items of the other bank"
            }
            Self::NotTheSame(_) => {
                "look at the listed ids; the same command imports what changed in the other bank, unless another program \
                 took that item here"
            }
            Self::EndedMeanwhile(_) => {
                "stop every program that ends claims in this bank, and import into an empty bank of another name"
            }
            Self::TakenMeanwhile(_) => {
                "if another import into this bank is at work, let it end and run this again; otherwise stop every \
                 program that takes from this bank, use none of the items that it took, and import into an empty bank of \
                 another name"
            }
            #[cfg(feature = "conform")]
            Self::DoesNotConform(_) => {
                "read what each failed case says: the promise, what broke it in other stores, and its seed; repeat it with \
                 --seed and --part"
            }
            #[cfg(feature = "conform")]
            Self::Certify(_) => "check the limits on threads and open files",
            Self::Runtime(_) => "check the limits on threads and open files",
            #[cfg(feature = "conform")]
            Self::NoVerdict => "there is no certificate: the same command begins anew",
            Self::Interrupted(None) => "nothing was changed: run the same command again",
            Self::Interrupted(Some(doubt)) => return format!("the files are unchanged; {}", doubt.help()).into(),
            Self::Died(_) => "run the same command again: nobody gets a second item",
        };
        advice.into()
    }
}

fn is_usage(error: &Error) -> bool {
    use ErrorKind::{InvalidInput, Misconfigured, TooLarge, Unsupported};
    let is_usage = matches!(error.kind(), InvalidInput | Misconfigured | TooLarge | Unsupported);
    is_usage && error.certainty() == Certainty::NotApplied
}

/// Returns the root of the causes, if the access to the store failed.
fn cause_of(error: &Error) -> Option<String> {
    use ErrorKind::{Denied, Misconfigured, NotSetUp, Throttled, Unavailable, Unsupported};
    let is_access = matches!(error.kind(), Denied | Misconfigured | NotSetUp | Throttled | Unavailable | Unsupported);
    let root = successors(error.source(), |&cause| cause.source()).last();
    root.filter(|_| is_access).map(ToString::to_string)
}

fn on(error: &Error) -> String {
    error.backend().map(|backend| format!(" on {backend}")).unwrap_or_default()
}

fn line_of(line: Option<&(u64, Reason)>) -> String {
    line.map(|(line, reason)| format!("; line {line}: {reason}")).unwrap_or_default()
}

fn list(mismatches: &[Mismatch]) -> String {
    let lines: Vec<_> = mismatches.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests;
