//! The failure of a case, as a value. A case never panics, so a suite can run broken stores to the end.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use storagebox_core::Error;

pub(crate) type Verdict = Result<(), Failure>;

/// Why a case failed, and which line of the suite noticed.
pub struct Failure {
    why: String,
    place: &'static Location<'static>,
    kind: FailureKind,
}

/// What a failure says about the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The case saw the backend break the promise.
    Broken,
    /// The case did not run to its end: it did not begin, panicked, or made no progress. The backend may be the cause,
    /// but the case saw no broken promise.
    Unfinished,
    /// The machine was too slow for the case. The failure says nothing about the backend.
    Undecided,
}

impl Failure {
    /// Creates a failure of a backend that broke the promise. Its place is the line of the caller.
    #[track_caller]
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), place: Location::caller(), kind: FailureKind::Broken }
    }

    #[track_caller]
    pub(crate) fn unfinished(why: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unfinished, ..Self::new(why) }
    }

    /// Creates the failure of a case whose world could not be created.
    #[track_caller]
    pub(crate) fn before_the_case(error: Error) -> Self {
        Self { kind: FailureKind::Unfinished, ..Self::from(error) }
    }

    /// Creates the failure of a case whose attempts at a check all came too late.
    #[track_caller]
    pub(crate) fn too_late(attempts: usize, margin: Duration) -> Self {
        let why = format!("the machine is too busy for this case: {attempts} reads came {margin:?} late or later");
        Self { kind: FailureKind::Undecided, ..Self::new(why) }
    }

    /// Creates the failure of a case whose calls took too long to come before the end of an entry.
    #[track_caller]
    pub(crate) fn too_slow(took: Duration, most: Duration) -> Self {
        let why =
            format!("the machine or the way to the store is too slow for this case: calls of {most:?} took {took:?}");
        Self { kind: FailureKind::Undecided, ..Self::new(why) }
    }

    /// Adds to the text what was in progress.
    #[must_use]
    pub fn during(self, what: impl fmt::Display) -> Self {
        Self { why: format!("{what}: {}", self.why), ..self }
    }

    /// Adds to the text what happened before the failure.
    #[must_use]
    pub(crate) fn after(self, what: impl fmt::Display) -> Self {
        Self { why: format!("{}, after {what}", self.why), ..self }
    }

    /// Returns what the failure says about the backend.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// Returns the line of the suite that noticed.
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.why, self.place)
    }
}

impl From<Error> for Failure {
    #[track_caller]
    fn from(error: Error) -> Self {
        Self::new(format!("a call returned an error instead of an answer: {error}"))
    }
}

/// Fails the case unless the condition holds. The remaining arguments describe the failure.
macro_rules! ensure {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            return Err($crate::failure::Failure::new(format!($($why)+)));
        }
    };
}

/// Fails the case unless both values are equal. The remaining arguments say what was compared.
macro_rules! ensure_eq {
    ($found:expr, $expected:expr, $($what:tt)+) => {{
        let (found, expected) = (&$found, &$expected);
        if found != expected {
            let what = format!($($what)+);
            return Err($crate::failure::Failure::new(format!("{what}: expected {expected:?}, found {found:?}")));
        }
    }};
}

/// Fails the case unless the value matches the pattern. Evaluates to the expression after `=>`, or to `()` without one.
macro_rules! ensure_matches {
    ($found:expr, $pattern:pat $(if $guard:expr)? => $bound:expr, $($what:tt)+) => {
        match $found {
            $pattern $(if $guard)? => $bound,
            #[allow(unreachable_patterns)]
            other => {
                let what = format!($($what)+);
                let expected = stringify!($pattern);
                return Err($crate::failure::Failure::new(format!("{what}: expected {expected}, found {other:?}")));
            }
        }
    };
    ($found:expr, $pattern:pat $(if $guard:expr)?, $($what:tt)+) => {
        ensure_matches!($found, $pattern $(if $guard)? => (), $($what)+)
    };
}

pub(crate) use {ensure, ensure_eq, ensure_matches};
