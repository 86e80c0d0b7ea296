//! What a backend says of itself and of its upkeep.

use std::borrow::Cow;

/// What [`Backend::maintain`](crate::Backend::maintain) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// How many entries were deleted.
    pub deleted: u64,
    /// Whether there may be more to delete.
    pub more: bool,
}

/// What a store guarantees, for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promises {
    /// The backend's short name.
    pub backend: &'static str,
    /// The statements, in an order fit for a table.
    pub entries: Vec<Promise>,
}

/// One statement of what a store guarantees, or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// What it is about, such as `durability`.
    pub about: &'static str,
    /// What is guaranteed, and where it ends.
    pub statement: Cow<'static, str>,
}
