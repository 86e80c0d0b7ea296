//! Paged listings.

use std::fmt;

/// The position where a listing continues. Opaque; valid for the namespace and the backend that created it: another
/// namespace may accept it, and then its listing skips entries. It may contain an item, so `Debug` shows only its
/// length.
#[derive(Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cursor(String);

impl Cursor {
    /// Wraps the backend's own position.
    pub fn new(position: impl Into<String>) -> Self {
        Self(position.into())
    }

    /// Returns the backend's own position.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cursor({} bytes)", self.0.len())
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries, at most as many as requested. A page may be short and still have a next page.
    pub entries: Vec<T>,
    /// The cursor of the next page, or `None` at the end.
    pub next: Option<Cursor>,
}
