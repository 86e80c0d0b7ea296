//! Listings whose cursor is the last key that was returned.

use crate::values::error::{Error, Result};
use crate::values::page::{Cursor, Page};

/// The largest number of entries per page. A request for more entries gets this number.
const MOST: usize = 1_000;

/// The prefix of every cursor. The last key of the page follows the prefix.
const AFTER: &str = "after:";

/// A request for a page: the key to start after, and the number of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    after: String,
    limit: usize,
}

impl PageRequest {
    /// Reads the caller's request; keys have the type `K`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the limit is 0 or no listing of such keys created the cursor.
    pub fn of<K>(backend: &'static str, cursor: Option<&Cursor>, limit: usize) -> Result<Self>
    where
        K: for<'a> TryFrom<&'a str>,
    {
        if limit == 0 {
            return Err(Error::invalid("limit", "must be at least 1").on(backend));
        }
        let after = match cursor.map(|cursor| cursor.as_str().strip_prefix(AFTER)) {
            None => "",
            Some(Some(key)) if K::try_from(key).is_ok() => key,
            Some(_) => return Err(Error::invalid("cursor", "was not made by this namespace").on(backend)),
        };
        Ok(Self { after: after.to_owned(), limit: limit.min(MOST) })
    }

    /// Returns the key of the last entry that was returned; at the beginning, a text that sorts before every key.
    pub fn after(&self) -> &str {
        &self.after
    }

    /// Returns the maximum number of entries of the page.
    pub fn limit(&self) -> i64 {
        // `limit` is at most `MOST`.
        self.limit as i64
    }

    /// Creates the page. A full page may have a next page, after the key of its last entry.
    pub fn page<T>(&self, entries: Vec<T>, key: impl FnOnce(&T) -> &str) -> Page<T> {
        let full = entries.len() == self.limit;
        let next = entries.last().filter(|_| full).map(|last| Cursor::new(format!("{AFTER}{}", key(last))));
        Page { entries, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::value::Key;

    #[test]
    fn any_cursor_text_is_read_exactly_or_refused() {
        storagebox_fuzz::texts(&["after:key", "after:", "after:after:"], |text| {
            if let Ok(listing) = PageRequest::of::<Key>("test", Some(&Cursor::new(text)), 1) {
                let next = listing.page(vec![listing.after()], |key| key).next;
                assert_eq!(next.as_ref().map(Cursor::as_str), Some(text));
            }
        });
    }
}
