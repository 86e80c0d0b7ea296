//! Limits of listings.

use storagebox_core::{Cursor, Error, Page, Result};

/// The most entries of one page, whatever was asked for: a page may be short.
const MOST: usize = 1_000;

/// What our cursors begin with; the last key follows.
const AFTER: &str = "after:";

/// The limit as the scripts take it.
pub(crate) fn limit(limit: usize) -> Result<usize> {
    match limit {
        0 => Err(Error::invalid("limit", "must be at least 1").on("redis")),
        _ => Ok(limit.min(MOST)),
    }
}

/// A page whose script said after which key to go on.
pub(crate) fn page<T>(entries: Vec<T>, after: &str) -> Page<T> {
    let next = (!after.is_empty()).then(|| Cursor::new(format!("{AFTER}{after}")));
    Page { entries, next }
}

pub(crate) fn not_ours() -> Error {
    Error::invalid("cursor", "was not made by this namespace").on("redis")
}

/// The key of the cursor's last entry; a text before every key at the beginning.
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
    fn whatever_a_cursor_says() {
        storagebox_fuzz::texts(&["after:key", "after:", "after:after:"], |text| {
            if let Ok(key) = after::<Key>(Some(&Cursor::new(text))) {
                assert!(Key::new(key.as_str()).is_ok(), "{key:?}");
                assert_eq!(page::<()>(vec![], &key).next.as_ref().map(Cursor::as_str), Some(text));
            }
        });
    }
}
