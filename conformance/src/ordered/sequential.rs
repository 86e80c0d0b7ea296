//! One caller, one call after another; with sequence numbers, so that no clock matters.

use storagebox_core::{Backend, OrderedStore, Stamp, Written};

use super::{SEQUENCE, delete_new, ensure_stale, listed, put_new, shown, stamp};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::pages::after;
use crate::world::World;

pub(super) async fn an_older_put_changes_nothing(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "new", 20).await?;
    for at in [19, 10, 1, 0, -1, -20, -21, i64::MIN] {
        let late = store.put(&"key".parse()?, &"old".try_into()?, &Stamp::new(at, "w".parse()?)).await?;
        ensure_eq!(late, Written::Stale { current: stamp(20, "w")? }, "a put at {at} after one at 20");
        ensure_eq!(shown(&*store, "key").await?, Some(("new".to_owned(), 20)), "the value after a put at {at}");
    }
    put_new(&*store, "key", "newer", 21).await?;
    ensure_eq!(shown(&*store, "key").await?, Some(("newer".to_owned(), 21)), "the value after a newer put");
    Ok(())
}

pub(super) async fn ones_own_retry_is_a_duplicate(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "value", 5).await?;
    put_new(&*store, "empty", "", 5).await?;
    for _ in 0..3 {
        ensure_eq!(
            store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await?,
            Written::Duplicate,
            "the same put again"
        );
        ensure_eq!(
            store.put(&"empty".parse()?, &"".try_into()?, &Stamp::new(5, "w".parse()?)).await?,
            Written::Duplicate,
            "the same empty put again"
        );
    }
    ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), 5)), "the value after the retries");
    ensure_eq!(shown(&*store, "empty").await?, Some((String::new(), 5)), "an empty value, which is a value");
    delete_new(&*store, "key", 6).await?;
    for _ in 0..3 {
        ensure_eq!(
            store.delete(&"key".parse()?, &Stamp::new(6, "w".parse()?)).await?,
            Written::Duplicate,
            "the same delete again"
        );
    }
    ensure_eq!(shown(&*store, "key").await?, None, "the value after the deletes");
    Ok(())
}

pub(super) async fn the_same_stamp_with_other_content_is_a_mismatch(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "value", 5).await?;
    for other in ["another", "", "valu", "value ", "VALUE"] {
        ensure_eq!(
            store.put(&"key".parse()?, &other.try_into()?, &Stamp::new(5, "w".parse()?)).await?,
            Written::Mismatch,
            "{other:?} at the same stamp"
        );
        ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), 5)), "the value after {other:?}");
    }
    ensure_eq!(
        store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await?,
        Written::Duplicate,
        "the first content once more"
    );
    put_new(&*store, "empty", "", 5).await?;
    ensure_eq!(
        store.put(&"empty".parse()?, &"x".try_into()?, &Stamp::new(5, "w".parse()?)).await?,
        Written::Mismatch,
        "a text after an empty value"
    );
    Ok(())
}

pub(super) async fn each_key_has_its_own_order(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "one", "new", 100).await?;
    put_new(&*store, "two", "old", 1).await?;
    delete_new(&*store, "three", 100).await?;
    put_new(&*store, "four", "old", 1).await?;
    ensure_eq!(listed(&*store, 10).await?, ["four", "one", "two"], "the keys listed");
    ensure_eq!(shown(&*store, "two").await?, Some(("old".to_owned(), 1)), "another key's older value");
    Ok(())
}

pub(super) async fn a_deleted_key_is_not_shown(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for key in ["a", "b", "c"] {
        put_new(&*store, key, key, 1).await?;
    }
    delete_new(&*store, "b", 2).await?;
    let other = world.client().await?.ordered_store(&"ordered".parse()?, SEQUENCE)?;
    for store in [&*store, &*other] {
        ensure_eq!(shown(store, "b").await?, None, "a deleted key");
        ensure_eq!(listed(store, 1).await?, ["a", "c"], "the keys listed after a delete");
    }
    Ok(())
}

pub(super) async fn an_older_put_does_not_bring_a_key_back(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "first", 5).await?;
    delete_new(&*store, "key", 10).await?;
    for at in [5, 6, 9, 0, i64::MIN] {
        let late = store.put(&"key".parse()?, &"first".try_into()?, &Stamp::new(at, "w".parse()?)).await?;
        ensure_eq!(late, Written::Stale { current: stamp(10, "w")? }, "a put at {at} after a delete at 10");
        ensure_eq!(shown(&*store, "key").await?, None, "the deleted key after a put at {at}");
        ensure!(listed(&*store, 10).await?.is_empty(), "the deleted key is listed after a put at {at}");
    }
    Ok(())
}

pub(super) async fn an_older_delete_deletes_nothing(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "value", 10).await?;
    for at in [9, 0, -10, i64::MIN] {
        let late = store.delete(&"key".parse()?, &Stamp::new(at, "w".parse()?)).await?;
        ensure_eq!(late, Written::Stale { current: stamp(10, "w")? }, "a delete at {at} after a put at 10");
        ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), 10)), "the value after it");
    }
    delete_new(&*store, "key", 20).await?;
    let late = store.delete(&"key".parse()?, &Stamp::new(15, "w".parse()?)).await?;
    ensure_stale(&late, 20, "an older delete after a newer one")?;
    let between = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(17, "w".parse()?)).await?;
    ensure_stale(&between, 20, "a put between the two deletes")?;
    Ok(())
}

pub(super) async fn deleting_what_never_was_fences_it(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    delete_new(&*store, "key", 10).await?;
    ensure_eq!(shown(&*store, "key").await?, None, "a key that never was");
    let late = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(9, "w".parse()?)).await?;
    ensure_stale(&late, 10, "a put older than the delete that came first")?;
    ensure!(listed(&*store, 10).await?.is_empty(), "a key that never existed is listed");
    Ok(())
}

pub(super) async fn a_newer_put_is_over_a_tombstone(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "first", 1).await?;
    delete_new(&*store, "key", 2).await?;
    put_new(&*store, "key", "second", 3).await?;
    ensure_eq!(shown(&*store, "key").await?, Some(("second".to_owned(), 3)), "a value after a delete");
    ensure_eq!(listed(&*store, 10).await?, ["key"], "the keys listed");
    let late = store.delete(&"key".parse()?, &Stamp::new(2, "w".parse()?)).await?;
    ensure_stale(&late, 3, "the delete once more")?;
    ensure_eq!(shown(&*store, "key").await?, Some(("second".to_owned(), 3)), "the value after it");
    Ok(())
}

/// A listing shows each live value once while other values are put.
pub(super) async fn a_listing_shows_each_live_value_once(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    let stays: Vec<_> = (0..60).map(|number| format!("stays-{number:02}")).collect();
    for key in &stays {
        put_new(&*store, key, "value", 1).await?;
        let goes = key.replace("stays", "goes");
        put_new(&*store, &goes, "value", 1).await?;
        delete_new(&*store, &goes, 2).await?;
    }
    for limit in [1, 7, 59, 60, 1_000] {
        let (mut seen, mut cursor) = (Vec::new(), None);
        for number in 0.. {
            let page = store.list(None, cursor.as_ref(), limit).await?;
            ensure!(page.entries.len() <= limit, "{} entries for a limit of {limit}", page.entries.len());
            seen.extend(page.entries.into_iter().map(|entry| entry.key.as_str().to_owned()));
            cursor = after(cursor.as_ref(), page.next)?;
            if cursor.is_none() {
                break;
            }
            // New keys may be shown or not. Their number is limited, or some listings would never end.
            if number < 20 {
                put_new(&*store, &format!("new-{limit}-{number}"), "value", 1).await?;
            }
        }
        ensure!(!seen.iter().any(|key| key.starts_with("goes")), "a deleted key is listed");
        seen.retain(|key| key.starts_with("stays"));
        seen.sort();
        ensure_eq!(seen, stays, "the keys that stayed, with a limit of {limit}");
    }
    Ok(())
}
