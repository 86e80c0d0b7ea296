//! Numbers that may be renumbered because only their equality matters, with names that stay.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A name that traces show and comparisons ignore.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Name(pub(crate) u8);

impl PartialEq for Name {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A number that is only compared for equality, and the symbol's unchanging name in traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Symbol {
    pub(crate) index: u8,
    pub(crate) name: Name,
}

impl Symbol {
    pub(crate) fn slot(self) -> usize {
        usize::from(self.index)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.0.fmt(f)
    }
}
