//! The failure of a case, as a value. A case never panics, so a suite can run broken stores to the end.

use std::fmt;
use std::panic::Location;

use storagebox_core::Error;

pub(crate) type Verdict = Result<(), Failure>;

/// Why a case failed, and which line of the suite noticed.
pub struct Failure {
    why: String,
    place: &'static Location<'static>,
}

impl Failure {
    /// Creates a failure with an explanation. Its place is the line of the caller.
    #[track_caller]
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), place: Location::caller() }
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
