//! The kinds of errors, by what the caller does next, and what each kind says about the call.

/// The kind of an [`Error`](crate::Error), by what the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument, perhaps a text that a user typed, exceeds a stated limit. The caller must change the argument.
    InvalidInput,
    /// The address of the store, a setting or the options of a namespace are wrong. The arguments of the call do not
    /// matter. The operator of the program must correct them; no user input is the cause.
    Misconfigured,
    /// A payload exceeds its limit. The caller must make it smaller.
    TooLarge,
    /// The store is not set up for storagebox. The caller must run `setup()` once.
    NotSetUp,
    /// This backend does not support the call. The caller must choose another way; the message names one.
    Unsupported,
    /// Other calls interfered and nothing was applied. The caller may retry later. The certainty is always
    /// `NotApplied`.
    Contention,
    /// The store asked for fewer requests and nothing was applied. The caller may retry later, more slowly. The
    /// certainty is always `NotApplied`.
    Throttled,
    /// The store could not be reached and nothing was applied. The caller may retry later. The certainty is always
    /// `NotApplied`.
    Unavailable,
    /// The call may have been applied. The caller must call again with the same id to find out, unless the error is not
    /// [retryable](crate::Error::is_retryable): then the store would not recognise the call.
    OutcomeUnknown,
    /// The lease of a call within a transaction is over, so another operation may have begun. Nothing was applied, and
    /// the transaction cannot be committed. The caller must roll the transaction back and stop its work. The certainty
    /// is always `NotApplied`.
    Fenced,
    /// The store refused the credentials, or the user lacks a permission. The caller must correct the credentials or
    /// grant the permission.
    Denied,
    /// The store has data that the library did not write, or lacks data that the library wrote. The caller must examine
    /// what the message describes.
    Corrupt,
}

/// Whether a failed call may have taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// The call surely changed nothing and never will.
    NotApplied,
    /// The call may have been applied, or may still be. The same call with the same id resolves the outcome, if the
    /// error is [retryable](crate::Error::is_retryable).
    Unknown,
}

/// The advice if the store does not recognise a repeated call, and so may apply the call a second time.
pub(super) const LOOK_FIRST: &str = "read the value first: a second call may apply the change twice";

impl ErrorKind {
    /// Returns what the caller does next, as the end of a sentence.
    pub fn advice(self) -> &'static str {
        match self {
            Self::InvalidInput => "change the argument",
            Self::Misconfigured => "correct the configuration",
            Self::TooLarge => "make it smaller",
            Self::NotSetUp => "run setup() once, then call again",
            Self::Unsupported => "choose another way or another backend",
            Self::Contention => "call again later",
            Self::Throttled => "call again later, more slowly",
            Self::Unavailable => "call again when the store can be reached",
            Self::OutcomeUnknown => "call again with the same id",
            Self::Fenced => "roll the transaction back and leave the work to the lease that is valid now",
            Self::Denied => "grant the right or correct the credentials",
            Self::Corrupt => "examine the store before anything else",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid input",
            Self::Misconfigured => "misconfigured",
            Self::TooLarge => "too large",
            Self::NotSetUp => "not set up",
            Self::Unsupported => "unsupported",
            Self::Contention => "contention",
            Self::Throttled => "throttled",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome unknown",
            Self::Fenced => "fenced",
            Self::Denied => "denied",
            Self::Corrupt => "corrupt record",
        }
    }

    /// Returns whether the same call, with the same id, may succeed later although nothing was corrected.
    pub(super) fn is_retryable(self) -> bool {
        matches!(self, Self::Contention | Self::Throttled | Self::Unavailable | Self::OutcomeUnknown)
    }
}
