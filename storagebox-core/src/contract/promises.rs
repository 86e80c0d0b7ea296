//! The guarantees of a backend, and the result of its maintenance.

use std::borrow::Cow;

use crate::values::time::Retention;

/// The result of [`Backend::maintain`](crate::Backend::maintain).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// The number of deleted entries.
    pub deleted: u64,
    /// Whether there may be more to delete.
    pub more: bool,
}

/// What a store guarantees, as text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Promises {
    /// The backend's short name.
    pub backend: &'static str,
    /// The statements, in the order for a table.
    pub entries: Vec<Promise>,
}

/// A statement of what a store guarantees or does not guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Promise {
    /// The subject of the statement, such as `durability`.
    pub about: &'static str,
    /// What is guaranteed, and the limits of the guarantee.
    pub statement: Cow<'static, str>,
}

impl Promises {
    /// Creates a list without statements, for the backend with this short name.
    pub fn of(backend: &'static str) -> Self {
        Self { backend, entries: vec![] }
    }

    /// Adds a statement about the subject.
    #[must_use]
    pub fn with(mut self, about: &'static str, statement: impl Into<Cow<'static, str>>) -> Self {
        self.entries.push(Promise { about, statement: statement.into() });
        self
    }

    /// Adds how long the store remembers what has ended. A program that asked for no time gets the time that the store
    /// was created with, which only the store knows.
    #[must_use]
    pub fn remembers(self, asked: Option<Retention>) -> Self {
        let time = asked.map_or_else(|| AS_CREATED.to_owned(), |asked| asked.to_string());
        self.with("remember", format!("ended claims, gone tokens and ended operations: {time}"))
    }
}

const AS_CREATED: &str = "the time that the store was created with, seven days by default";
