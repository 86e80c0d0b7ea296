//! The tags by which calls recognise their own writes.

use std::fmt::Write as _;

use storagebox_core::{Ids, RandomIds};

use crate::row::Row;

/// A random text by which a call recognises its own writes. All attempts of a call use the same tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag(String);

impl Tag {
    pub(crate) fn fresh() -> Self {
        Self(RandomIds.fresh())
    }

    /// Returns a tag that is unique to one attempt and begins with the tag of the call. The tag is for a row whose next
    /// write has a condition on the tag: two attempts of one call must not write the same tag.
    pub(crate) fn of_attempt(&self) -> Self {
        Self(format!("{}.{}", self.0, Self::fresh().0))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether this call wrote the row last.
    pub(crate) fn is_on(&self, row: &Row) -> bool {
        row.text("t").is_some_and(|tag| self.wrote(tag))
    }

    /// Returns whether `tag` is the tag of this call or of one of its attempts.
    pub(crate) fn wrote(&self, tag: &str) -> bool {
        // All tags of calls have the same length, so no tag of a call is the beginning of another one.
        tag.starts_with(self.as_str())
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
