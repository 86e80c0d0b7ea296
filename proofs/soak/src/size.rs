//! How much a store holds.

use std::fmt;

/// At one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Rows or keys, where they can be counted.
    pub(crate) entries: Option<u64>,
    /// On the disk or in memory, as the store says.
    pub(crate) bytes: u64,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(entries) = self.entries {
            write!(f, "{entries} entries, ")?;
        }
        write!(f, "{} KiB", self.bytes >> 10)
    }
}
