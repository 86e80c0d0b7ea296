//! The limits and cursors of listings.

use storagebox_core::{Cursor, Error, Page, Result};

/// The most entries of one page, even if the caller asks for more.
const MOST: usize = 1_000;

/// The beginning of each cursor, before the key after which the next page begins.
const AFTER: &str = "after:";

/// Returns the limit, or the most entries of a page if the limit is higher. Refuses 0.
pub(crate) fn limit(limit: usize) -> Result<usize> {
    match limit {
        0 => Err(Error::invalid("limit", "must be at least 1").on("redis")),
        _ => Ok(limit.min(MOST)),
    }
}

/// Creates a page. `after` is the key after which the next page begins, or empty if there is no next page.
pub(crate) fn page<T>(entries: Vec<T>, after: &str) -> Page<T> {
    let next = (!after.is_empty()).then(|| Cursor::new(format!("{AFTER}{after}")));
    Page { entries, next }
}

pub(crate) fn not_ours() -> Error {
    Error::invalid("cursor", "was not made by this namespace").on("redis")
}

/// Returns the key in the cursor, or, without a cursor, an empty text, which sorts before every key.
pub(crate) fn after<K>(cursor: Option<&Cursor>) -> Result<String>
where
    K: for<'a> TryFrom<&'a str>,
{
    let Some(cursor) = cursor else {
        return Ok(String::new());
    };
    let key = cursor.as_str().strip_prefix(AFTER).filter(|key| K::try_from(*key).is_ok());
    key.map(str::to_owned).ok_or_else(not_ours)
}

#[cfg(test)]
mod tests {
    use storagebox_core::Key;

    use super::*;

    #[test]
    fn fuzz_cursor_is_read_or_refused() {
        storagebox_fuzz::texts(&["after:key", "after:", "after:after:"], |text| {
            if let Ok(key) = after::<Key>(Some(&Cursor::new(text))) {
                assert!(Key::new(key.as_str()).is_ok(), "{key:?}");
                assert_eq!(page::<()>(vec![], &key).next.as_ref().map(Cursor::as_str), Some(text));
            }
        });
    }
}
