//! One error for every backend: what happened, whether it took effect, and what the caller does next.

mod kind;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;

pub use kind::{Certainty, ErrorKind};

/// The result of every call of storagebox.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn StdError + Send + Sync + 'static>;

/// Why a call has no answer.
///
/// Only what no correct caller expects is an error. What a correct program meets (an empty bank, an id that was
/// used for something else, a lapsed lease) is an outcome, in the method's own closed enum.
///
/// # Guarantees
///
/// - ER-1: [`certainty`](Error::certainty) is `NotApplied` only where the store surely did nothing; everything
///   that is not proven is `Unknown`, because a client cannot tell a lost request from a lost reply. The kind and the text
///   say the same as the certainty, and so does every cause.
/// - ER-2: it names the operation, the backend and the next step, and never an item, a payload or a password.
/// - ER-3: the driver's own error stays reachable through `source()`; its type appears in no signature.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    operation: Option<&'static str>,
    backend: Option<&'static str>,
    context: Vec<(&'static str, String)>,
    source: Option<Source>,
    unresolved: bool,
    unrepeatable: bool,
}

impl Error {
    /// An error of this kind; the message says what happened, without items, payloads or secrets.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            operation: None,
            backend: None,
            context: vec![],
            source: None,
            unresolved: false,
            unrepeatable: false,
        }))
    }

    /// `InvalidInput` of one named argument.
    pub fn invalid(field: &'static str, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidInput, format!("{field} {why}")).with("field", field)
    }

    /// `Misconfigured`: a setting, a URL or the options of a box.
    pub fn misconfigured(setting: &'static str, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Misconfigured, format!("{setting} {why}")).with("setting", setting)
    }

    /// The same as a fault of the configuration, if it is one of an argument: what is a limit of a call's argument may be
    /// one of a setting too.
    #[must_use]
    pub fn of_configuration(mut self) -> Self {
        if self.0.kind == ErrorKind::InvalidInput {
            self.0.kind = ErrorKind::Misconfigured;
        }
        self
    }

    /// `Unsupported`, with what to use instead.
    pub fn unsupported(what: impl fmt::Display, instead: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unsupported, format!("{what} is not supported; use {instead}"))
    }

    /// `OutcomeUnknown`, with what became of the call as far as it is known.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutcomeUnknown, why)
    }

    /// `Corrupt`, naming the record that cannot be read.
    pub fn corrupt(record: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Corrupt, format!("{record} cannot be read: {why}"))
    }

    pub(crate) fn length(field: &'static str, min: usize, max: usize, found: usize) -> Self {
        Self::invalid(field, format_args!("must have {min} to {max} bytes, not {found}"))
            .with("limit", max)
            .with("bytes", found)
    }

    pub(crate) fn too_large(field: &'static str, max: usize, found: usize) -> Self {
        Self::new(ErrorKind::TooLarge, format!("{field} must have at most {max} bytes, not {found}"))
            .with("field", field)
            .with("limit", max)
            .with("bytes", found)
    }

    /// Names the operation that failed, such as `take`.
    #[must_use]
    pub fn during(mut self, operation: &'static str) -> Self {
        self.0.operation = Some(operation);
        self
    }

    /// Names the backend that failed, such as `postgres`.
    #[must_use]
    pub fn on(mut self, backend: &'static str) -> Self {
        self.0.backend = Some(backend);
        self
    }

    /// Adds a fact, such as a limit or the name of a record; never a secret or an item.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.context.push((key, value.to_string()));
        self
    }

    /// Keeps the driver's own error, for `source()`.
    ///
    /// An error of ours is no cause of another one: it says what became of its own call, which may not be true of this
    /// one. Its own cause is kept in its place.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Source>) -> Self {
        self.0.source = match source.into().downcast::<Self>() {
            Ok(ours) => ours.0.source,
            Err(source) => Some(source),
        };
        self
    }

    /// Marks a failure that followed a step or an attempt which may have been applied. What could be called again is
    /// `OutcomeUnknown` then; any other kind stays, with the certainty `Unknown`.
    #[must_use]
    pub fn after_unresolved(mut self) -> Self {
        if self.0.kind.is_retryable() {
            self.0.kind = ErrorKind::OutcomeUnknown;
        }
        self.0.unresolved = true;
        self
    }

    /// Marks the failure of a call that the store would not know again: a change by a counter strategy without a
    /// [memory](crate::Memory) of its own. If its outcome is unknown, it is not [retryable](Self::is_retryable), because
    /// a second call may apply it a second time.
    #[must_use]
    pub fn unrepeatable(mut self) -> Self {
        self.0.unrepeatable = true;
        self
    }

    /// The sort of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What happened, without the advice that `Display` adds.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The operation that failed, where it is known.
    pub fn operation(&self) -> Option<&'static str> {
        self.0.operation
    }

    /// The backend that failed, where it is known.
    pub fn backend(&self) -> Option<&'static str> {
        self.0.backend
    }

    /// The facts that were added, in their order.
    pub fn context(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.context.iter().map(|(key, value)| (*key, value.as_str()))
    }

    /// Whether the call may have taken effect (ER-1).
    pub fn certainty(&self) -> Certainty {
        match self.0.kind {
            ErrorKind::OutcomeUnknown => Certainty::Unknown,
            _ if self.0.unresolved => Certainty::Unknown,
            _ => Certainty::NotApplied,
        }
    }

    /// What the caller does next, as the end of a sentence.
    pub fn advice(&self) -> &'static str {
        match self.0.kind {
            ErrorKind::OutcomeUnknown if self.0.unrepeatable => kind::LOOK_FIRST,
            kind => kind.advice(),
        }
    }

    /// Whether the same call, with the same id, may succeed later without anybody changing anything, and does no harm if
    /// this one was applied.
    pub fn is_retryable(&self) -> bool {
        self.0.kind.is_retryable() && !self.may_count_twice()
    }

    fn may_count_twice(&self) -> bool {
        self.0.unrepeatable && self.certainty() == Certainty::Unknown
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.0.operation {
            write!(f, "{operation}: ")?;
        }
        if let Some(backend) = self.0.backend {
            write!(f, "{backend}: ")?;
        }
        let kind = self.0.kind;
        write!(f, "{}: {} ({}", kind.name(), self.0.message, self.advice())?;
        match self.certainty() {
            Certainty::Unknown if kind != ErrorKind::OutcomeUnknown => {
                f.write_str("; it may have been applied)")
            }
            _ => f.write_str(")"),
        }
    }
}

/// The source by its `Display`: drivers' `Debug` may hold connection options with a password.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("operation", &self.0.operation)
            .field("backend", &self.0.backend)
            .field("context", &self.0.context)
            .field("certainty", &self.certainty())
            .field("source", &self.0.source.as_ref().map(ToString::to_string))
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}

/// Lets a value that is checked already stand where a text could.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
