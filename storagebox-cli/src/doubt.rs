//! What to do after a command that may have changed the store.

use std::borrow::Cow;

use storagebox::{Error, ErrorKind};

/// What happens if the user runs the same command again after a change that may have been applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The store recognises what was done.
    Repeatable,
    /// It may change a counter a second time.
    Twice,
}

impl Doubt {
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::OutcomeUnknown if !error.is_retryable() => Self::Twice,
            _ => Self::Repeatable,
        }
    }

    pub(crate) fn help(self) -> Cow<'static, str> {
        match self {
            Self::Repeatable => "it may have taken effect: run the same command again, which does nothing twice".into(),
            Self::Twice => {
                "it may have taken effect, and running this again may do it twice, because this strategy does not \
                 remember what was done: read the value first"
                    .into()
            }
        }
    }
}
