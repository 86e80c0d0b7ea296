//! Numbers that may be exchanged for others where only equality matters, with names that stay.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// What the reader of a trace calls a thing. It never tells two states apart.
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

/// Something of which only equality matters: its index may be exchanged for another, its name stays.
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
