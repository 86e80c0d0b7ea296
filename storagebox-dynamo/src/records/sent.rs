//! What one call has sent so far.

use std::sync::{Mutex, PoisonError};

use crate::client::Tag;
use crate::row::Row;

/// The writes of one call, and what it is answered if one of them is found to have landed.
///
/// Each has a tag of its own, because a row is exchanged by its tag: had two attempts of a call the same, a row could be
/// taken for one that it was before.
#[derive(Debug)]
pub(super) struct Sent<T>(Mutex<Vec<(Tag, T)>>);

impl<T> Default for Sent<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Sent<T> {
    /// The tag of one more write.
    pub(super) fn tag(&self, answer: &T) -> Tag {
        let tag = Tag::fresh();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((tag.clone(), answer.clone()));
        tag
    }

    /// The answer, if the row is as one of these writes left it.
    pub(super) fn landed(&self, row: Option<&Row>) -> Option<T> {
        let sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sent.iter().find(|(tag, _)| row.is_some_and(|row| tag.is_on(row))).map(|(_, answer)| answer.clone())
    }
}
