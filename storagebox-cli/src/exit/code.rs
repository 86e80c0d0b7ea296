//! The exit codes.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// The command is done, and its outcome is negative, such as `empty`, `ended` or `unknown`.
    Nothing,
    BadInput,
    StoreFailed,
    Interrupted,
    /// The exit code of the command that `dedup run` ran.
    Of(u8),
    // Only `dedup run` uses this variant and the variants below.
    /// A signal ended `dedup run` before the command started.
    NotRun,
    EndedBySignal,
    StillRunning,
    RunFailed,
    CannotRun,
    NoSuchCommand,
}

impl Exit {
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Nothing => 1,
            Self::BadInput => 2,
            Self::StoreFailed => 3,
            Self::NotRun => 122,
            Self::EndedBySignal => 123,
            Self::StillRunning => 124,
            Self::RunFailed => 125,
            Self::CannotRun => 126,
            Self::NoSuchCommand => 127,
            Self::Interrupted => 130,
            Self::Of(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
