//! What a backend promises, and what its maintenance did.

use std::borrow::Cow;

/// What [`Backend::maintain`](crate::Backend::maintain) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// How many entries were deleted.
    pub deleted: u64,
    /// Whether there may be more to delete.
    pub more: bool,
}

/// What a store guarantees, as text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promises {
    /// The backend's short name.
    pub backend: &'static str,
    /// The statements, in the order for a table.
    pub entries: Vec<Promise>,
}

/// A statement of what a store guarantees or does not guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The subject of the statement, such as `durability`.
    pub about: &'static str,
    /// What is guaranteed, and the limits of the guarantee.
    pub statement: Cow<'static, str>,
}
