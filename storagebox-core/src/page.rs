//! Listings, a page at a time.

/// Where a listing goes on. Opaque; valid for the box and the backend that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cursor(String);

impl Cursor {
    /// Wraps a backend's own position.
    pub fn new(position: impl Into<String>) -> Self {
        Self(position.into())
    }

    /// The backend's own position.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries, at most as many as were asked for; a page may be short and still have a next one.
    pub entries: Vec<T>,
    /// Where to go on, or `None` at the end.
    pub next: Option<Cursor>,
}
