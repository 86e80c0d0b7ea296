//! The size of a store.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// The number of rows or keys, if they can be counted.
    pub(crate) entries: Option<u64>,
    /// The number of bytes on disk or in memory, as the store reports it.
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
