//! One error type for every backend: what happened, whether it took effect, and what the caller does next.

mod kind;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;

pub use kind::{Certainty, ErrorKind};

/// The result of every storagebox call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn StdError + Send + Sync + 'static>;

/// The reason why a call has no answer.
///
/// Only conditions that a correct caller does not expect are errors. Conditions that a correct program meets (an empty
/// bank, an id that was used for something else, a lapsed lease) are outcomes, in the closed enum of the method.
///
/// # Guarantees
///
/// - ER-1: [`certainty`](Error::certainty) is `NotApplied` only if the store surely did nothing. Every other case is
///   `Unknown`, because a client cannot distinguish a lost request from a lost reply. The kind, the text and every
///   cause agree with the certainty.
/// - ER-2: the error names the operation and the backend, and [`advice`](Error::advice) the next step. Neither contains
///   an item, a payload or a password.
/// - ER-3: the driver's own error stays available through `source()`; its type appears in no signature.
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
    /// Creates an error of this kind. The message says what happened, without items, payloads or secrets.
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

    /// Creates an `InvalidInput` error for a named argument.
    pub fn invalid(field: &'static str, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidInput, format!("{field} {why}")).with("field", field)
    }

    /// Creates a `Misconfigured` error for a setting, a URL or the options of a namespace.
    pub fn misconfigured(setting: &'static str, why: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Misconfigured, format!("{setting} {why}")).with("setting", setting)
    }

    /// Turns an error about an argument into an error about the configuration, because a limit of an argument may also
    /// be a limit of a setting. Other errors stay the same.
    #[must_use]
    pub fn of_configuration(mut self) -> Self {
        if self.0.kind == ErrorKind::InvalidInput {
            self.0.kind = ErrorKind::Misconfigured;
        }
        self
    }

    /// Creates an `Unsupported` error that says what to use instead.
    pub fn unsupported(what: impl fmt::Display, instead: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unsupported, format!("{what} is not supported; use {instead}"))
    }

    /// Creates an `OutcomeUnknown` error that says what is known about the outcome of the call.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutcomeUnknown, why)
    }

    /// Creates a `Corrupt` error that names the unreadable record.
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

    /// Sets the operation that failed, such as `take`.
    #[must_use]
    pub fn during(mut self, operation: &'static str) -> Self {
        self.0.operation = Some(operation);
        self
    }

    /// Sets the backend that failed, such as `postgres`.
    #[must_use]
    pub fn on(mut self, backend: &'static str) -> Self {
        // A part that was layered outside a store has no backend's name.
        self.0.backend = Some(backend).filter(|name| !name.is_empty());
        self
    }

    /// Adds a fact, such as a limit or the name of a record, but never a secret or an item.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.context.push((key, value.to_string()));
        self
    }

    /// Stores the driver's own error, for `source()`.
    ///
    /// An [`Error`] is never stored as the cause of another [`Error`]: it states the outcome of its own call, which may
    /// not be true of this call. Its own cause is stored instead.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Source>) -> Self {
        self.0.source = match source.into().downcast::<Self>() {
            Ok(ours) => ours.0.source,
            Err(source) => Some(source),
        };
        self
    }

    /// Marks a failure after a step or an attempt that may have been applied. A retryable error becomes
    /// `OutcomeUnknown`; any other kind stays, with the certainty `Unknown`.
    #[must_use]
    pub fn after_unresolved(mut self) -> Self {
        if self.0.kind.is_retryable() {
            self.0.kind = ErrorKind::OutcomeUnknown;
        }
        self.0.unresolved = true;
        self
    }

    /// Marks the failure of a call that the store would not recognise again: a change by a counter strategy without a
    /// [memory](crate::Remember) of its own. If the outcome is unknown, the error is not
    /// [retryable](Self::is_retryable), because a second call may apply the change twice.
    #[must_use]
    pub fn unrepeatable(mut self) -> Self {
        self.0.unrepeatable = true;
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns what happened, without the operation, the backend and the kind that `Display` adds.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the operation that failed, if it is known.
    pub fn operation(&self) -> Option<&'static str> {
        self.0.operation
    }

    /// Returns the backend that failed, if it is known.
    pub fn backend(&self) -> Option<&'static str> {
        self.0.backend
    }

    /// Returns the added facts in their order.
    pub fn context(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.context.iter().map(|(key, value)| (*key, value.as_str()))
    }

    /// Returns whether the call may have taken effect (ER-1).
    pub fn certainty(&self) -> Certainty {
        match self.0.kind {
            ErrorKind::OutcomeUnknown => Certainty::Unknown,
            _ if self.0.unresolved => Certainty::Unknown,
            _ => Certainty::NotApplied,
        }
    }

    /// Returns what the caller does next, as the end of a sentence. `Display` does not contain it.
    pub fn advice(&self) -> &'static str {
        match self.0.kind {
            ErrorKind::OutcomeUnknown if self.0.unrepeatable => kind::LOOK_FIRST,
            kind => kind.advice(),
        }
    }

    /// Returns whether the same call, with the same id, may succeed later without any other change, and does no harm if
    /// this call was applied.
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
        write!(f, "{}: {}", self.0.kind.name(), self.0.message)?;
        match self.certainty() {
            Certainty::NotApplied => Ok(()),
            Certainty::Unknown => f.write_str(" (it may have been applied)"),
        }
    }
}

/// Shows the source by its `Display`, because the `Debug` of a driver may contain a password.
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

/// Lets a function that converts its arguments also accept an argument that needs no conversion.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
