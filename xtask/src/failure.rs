//! The exit codes of failed tasks.

use std::fmt;

use anyhow::Error;

use crate::needed::Lacking;

#[derive(Debug)]
pub(crate) struct ChildFailure {
    pub(crate) command: String,
    /// The exit code of the child, or `None` if the child was killed.
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
}

impl std::error::Error for ChildFailure {}

impl fmt::Display for ChildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, code, output } = self;
        match code {
            Some(code) => write!(f, "{output}`{command}` ended with exit code {code}"),
            None => write!(f, "{output}`{command}` was killed"),
        }
    }
}

/// Returns the exit code of the task: the code of a failed child, 2 if the tests lack a program or a server, otherwise
/// 1.
pub(crate) fn exit_code(error: &Error) -> u8 {
    if let Some(ChildFailure { code: Some(code), .. }) = error.downcast_ref() {
        return u8::try_from(*code).unwrap_or(1).max(1);
    }
    if error.is::<Lacking>() || error.is::<storagebox_testkit::Failure>() { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(code: Option<i32>) -> u8 {
        let child = ChildFailure { command: "cargo test".to_owned(), code, output: String::new() };
        exit_code(&Error::from(child).context("one feature alone"))
    }

    #[test]
    fn the_exit_code_of_a_failed_child_is_kept_and_never_zero() {
        assert_eq!(code_of(Some(101)), 101);
        assert_eq!(code_of(Some(256)), 1);
        assert_eq!(code_of(None), 1);
        assert_eq!(exit_code(&Error::msg("there is no example")), 1);
    }
}
