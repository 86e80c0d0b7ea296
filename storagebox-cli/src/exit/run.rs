//! Why `dedup run` has no output to show. Its exit codes differ from those of the commands that it runs.

use std::borrow::Cow;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use super::{Exit, Failure};

#[derive(Debug, thiserror::Error)]
pub(crate) enum RunFailure {
    #[error("another caller runs the command; its lease lasts {} ms more, or longer if the caller is alive", .remaining.as_millis())]
    InFlight { remaining: Duration },
    #[error("the id was used for another command")]
    OtherCommand,
    #[error("the id holds a value that `dedup run` did not record")]
    NoRun,
    #[error(
        "the lease ran out while the command was running, and another caller runs it: this run was ended, and \
         nothing is recorded"
    )]
    LeaseLost,
    #[error("the command ran and ended with {exit_code}, but {failure}")]
    NotRecorded { exit_code: u8, failure: Box<Failure> },
    #[error(
        "the command was run and ended with {exit_code}, and wrote {bytes} bytes, more than a record holds; the \
         output was not kept"
    )]
    OutputNotKept { exit_code: u8, bytes: u64 },
    #[error("the command ran and ended with {exit_code}, but its output could not be shown: {source}")]
    NotShown { exit_code: u8, source: io::Error },
    #[error("cannot run {command}: {source}")]
    Spawn { command: String, source: io::Error },
    #[error("cannot watch the command: {0}")]
    Follow(io::Error),
    #[error("interrupted: the command was not run")]
    NotRun,
    #[error("interrupted: the command got the signal and ended ({0}), and nothing is recorded")]
    Interrupted(ExitStatus),
    #[error("the command was ended by a signal ({0}), and nothing is recorded")]
    BySignal(ExitStatus),
    #[error("interrupted: the command was killed and has not ended yet, and nothing is recorded")]
    Abandoned,
    #[error("interrupted: the command has ended, nothing is recorded, and the lease of the id is not returned")]
    LeaseKept,
    #[error("interrupted: the command ended by itself with {exit_code}, and the result may not be recorded")]
    Unrecorded { exit_code: u8 },
    #[error(transparent)]
    Other(Box<Failure>),
}

impl RunFailure {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::InFlight { .. } => Exit::StillRunning,
            Self::Spawn { source, .. } if source.kind() == io::ErrorKind::NotFound => Exit::NoSuchCommand,
            Self::Spawn { .. } => Exit::CannotRun,
            Self::NotRun => Exit::NotRun,
            Self::Interrupted(_) | Self::BySignal(_) | Self::Abandoned | Self::LeaseKept => Exit::EndedBySignal,
            _ => Exit::RunFailed,
        }
    }

    pub(crate) fn help(&self) -> Cow<'static, str> {
        let advice = match self {
            Self::InFlight { .. } => "wait longer, or run this again later",
            Self::OtherCommand => {
                "use another id for another command, or give the runs the same --fingerprint; if a run was cut off and left no \
                 record, look at what it did, then free the id with `dedup record` and `dedup forget`"
            }
            Self::NoRun => "use another id, or another namespace",
            Self::LeaseLost => {
                "run this again for the other caller's result; give a longer --lease if this machine was only slow"
            }
            Self::NotRecorded { .. } => {
                "the command may run a second time once the lease has run out: look at what it did, then run this again"
            }
            Self::OutputNotKept { .. } => "let the command write into a file; `dedup forget` lets it run once more",
            Self::NotShown { .. } => {
                "it is recorded: run this again with an output that can be written, which replays it"
            }
            Self::Spawn { .. } => "check the command's name and rights; nothing was run or recorded",
            Self::Follow(_) => "nothing is recorded: look at what the command did, then run this again",
            Self::NotRun => "run the same command line again, for another caller's result or to run the command",
            Self::Interrupted(_) | Self::BySignal(_) => {
                "look at what the command did; the same command line runs it again"
            }
            Self::LeaseKept => "look at what the command did; it can be run again once the lease has run out",
            Self::Abandoned => "look for processes of the command; another may run it once the lease has run out",
            Self::Unrecorded { .. } => {
                "look at what the command did; the same command line shows the run if it is recorded, and runs the \
                 command once more if not"
            }
            Self::Other(failure) => return failure.help(),
        };
        advice.into()
    }

    /// Returns whether the result is recorded: `Some(None)` if unknown, and `None` if the command did not run here.
    pub(crate) fn recorded(&self) -> Option<Option<bool>> {
        match self {
            Self::NotShown { .. } | Self::OutputNotKept { .. } => Some(Some(true)),
            Self::NotRecorded { .. } | Self::Unrecorded { .. } => Some(None),
            Self::InFlight { .. } | Self::OtherCommand | Self::NoRun | Self::Other(_) => None,
            _ => Some(Some(false)),
        }
    }

    /// Returns the cause of this failure, if the cause is a failure of the store or of the command line.
    pub(crate) fn inner(&self) -> Option<&Failure> {
        match self {
            Self::Other(failure) | Self::NotRecorded { failure, .. } => Some(failure),
            _ => None,
        }
    }

    pub(crate) fn other(failure: Failure) -> Self {
        Self::Other(Box::new(failure))
    }
}

impl From<storagebox::Error> for RunFailure {
    fn from(error: storagebox::Error) -> Self {
        Self::other(error.into())
    }
}
