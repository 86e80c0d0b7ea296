//! Prefixes that look like patterns, and invalid cursors.

use storagebox_core::{Cursor, ErrorKind, Key, MAX_ID_BYTES, OrderedStore};

use super::{SEQUENCE, delete_new, put_new};
use crate::failure::{Verdict, ensure_eq, ensure_matches};
use crate::pages::after;
use crate::values::{longest, nasty_texts};
use crate::world::World;

/// A listing with a nasty text as its prefix shows exactly the keys that begin with the bytes of the text.
pub(super) async fn a_prefix_is_a_prefix_and_no_pattern(world: &World) -> Verdict {
    let (store, texts) = (world.ordered(SEQUENCE)?, nasty_texts());
    for text in &texts {
        put_new(&*store, text, "value", 1).await?;
    }
    delete_new(&*store, "a:b", 2).await?;
    for prefix in &texts {
        let mut expected: Vec<_> = texts.iter().filter(|text| text.starts_with(prefix) && *text != "a:b").collect();
        expected.sort();
        let page = store.list(Some(&Key::new(prefix.as_str())?), None, texts.len()).await?;
        let mut found: Vec<_> = page.entries.iter().map(|entry| entry.key.as_str()).collect();
        found.sort_unstable();
        ensure_eq!(found, expected, "the keys that begin with {prefix:?}");
    }
    Ok(())
}

pub(super) async fn a_prefix_may_be_the_longest_key(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    let (long, last) = (longest("a", MAX_ID_BYTES), "\u{10ffff}".repeat(MAX_ID_BYTES / 4));
    for key in [&long, &last] {
        put_new(&*store, key, "value", 1).await?;
        for prefix in [key.as_str(), &key[..key.len() - 4]] {
            let page = paged(&*store, prefix).await?;
            ensure_eq!(page, [key.as_str()], "the keys that begin with the prefix");
        }
    }
    Ok(())
}

/// Returns the keys with a prefix, read page by page.
async fn paged(store: &dyn OrderedStore, prefix: &str) -> Result<Vec<String>, crate::failure::Failure> {
    let (prefix, mut keys, mut cursor) = (Key::new(prefix)?, Vec::new(), None);
    loop {
        let page = store.list(Some(&prefix), cursor.as_ref(), 1).await?;
        keys.extend(page.entries.into_iter().map(|entry| entry.key.as_str().to_owned()));
        cursor = after(cursor.as_ref(), page.next)?;
        if cursor.is_none() {
            return Ok(keys);
        }
    }
}

pub(super) async fn a_listing_refuses_what_it_cannot_go_on_from(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "value", 1).await?;
    let nothing = store.list(None, None, 0).await;
    ensure_matches!(nothing, Err(error) if error.kind() == ErrorKind::InvalidInput, "a limit of 0");
    let stranger = Cursor::new("\u{1f}not a cursor of this namespace");
    let answer = store.list(None, Some(&stranger), 10).await;
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::InvalidInput, "a stranger's cursor");
    Ok(())
}
