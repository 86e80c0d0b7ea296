//! Why a case failed, as a value: a case never panics, so a suite can run others' broken stores to the end.

use std::fmt;

use storagebox_core::Error;

/// Why a case failed.
pub struct Failure(String);

impl Failure {
    /// A failure with its explanation.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// The same failure, with what was going on.
    #[must_use]
    pub fn during(self, what: impl fmt::Display) -> Self {
        Self(format!("{what}: {}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(format!("a call that must answer failed: {error}"))
    }
}

/// Fails the case unless the condition holds; the rest says what should have been.
macro_rules! ensure {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            return Err($crate::failure::Failure::new(format!($($why)+)));
        }
    };
}

/// Fails the case unless both are equal; the rest says what was compared.
macro_rules! ensure_eq {
    ($found:expr, $expected:expr, $($what:tt)+) => {{
        let (found, expected) = (&$found, &$expected);
        if found != expected {
            let what = format!($($what)+);
            return Err($crate::failure::Failure::new(format!("{what}: expected {expected:?}, found {found:?}")));
        }
    }};
}

/// Fails the case unless the value matches; answers what the pattern binds.
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
