//! The checks that fail at the end of a run.

use std::fmt;

/// A number that a check found, and its expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) place: &'static str,
    pub(crate) what: &'static str,
    pub(crate) found: u32,
    pub(crate) expected: u32,
}

/// The checks whose result differs from the expected value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) struct Imbalance(pub(crate) Vec<Check>);

impl fmt::Display for Imbalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of balance")?;
        for Check { place, what, found, expected } in &self.0 {
            write!(f, "; {place}: {found} {what}, expected {expected}")?;
        }
        Ok(())
    }
}
