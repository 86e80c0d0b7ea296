//! Article 4: its tables row by row, and its three reasons why writes arrive out of order.

use std::time::Duration;

use storagebox_core::{Backend, Key, OrderedOptions, OrderedStore, Stamp, Written};

use super::{SEQUENCE, ensure_stale, put_new, shown};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::world::World;

type Row = (&'static str, &'static str, i64);

/// The ratings in the first table of article 4: key, rating and time stamp in milliseconds.
const RATINGS: [Row; 4] = [
    ("User#1/Movie#A", "3", 1_721_769_060_000),
    ("User#1/Movie#B", "4", 1_721_768_150_000),
    ("User#2/Movie#A", "1", 1_721_767_220_000),
    ("User#2/Movie#Z", "5", 1_721_757_100_000),
];

/// The ratings in the second table of article 4.
const LATER: [Row; 3] = [
    ("User#1/Movie#A", "5", 1_721_770_090_000),
    ("User#1/Movie#B", "4", 1_721_768_150_000),
    ("User#2/Movie#A", "1", 1_721_767_220_000),
];

const DELETED: (&str, i64) = ("User#2/Movie#Z", 1_721_757_900_000);

/// The writes of article 4 produce the rows of the article's tables, both with time stamps and with sequence numbers.
pub(super) async fn the_articles_tables_come_out_row_by_row(world: &World) -> Verdict {
    let years = OrderedOptions { tombstone_age: Duration::from_secs(50 * 31_557_600), ..OrderedOptions::time() };
    for (name, options) in [("time", years), ("sequence", SEQUENCE)] {
        let store = world.store().ordered_store(&name.parse()?, options)?;
        for (key, rating, at) in RATINGS {
            put_new(&*store, key, rating, at).await?;
        }
        ensure_table(&*store, &RATINGS).await?;
        put_new(&*store, "User#1/Movie#A", "5", 1_721_770_090_000).await?;
        let late = store
            .put(&"User#1/Movie#A".parse()?, &"2".try_into()?, &Stamp::new(1_721_769_999_999, "w".parse()?))
            .await?;
        ensure_stale(&late, 1_721_770_090_000, "a rating older than the one that is there")?;
        let (key, at) = DELETED;
        ensure_eq!(
            store.delete(&key.parse()?, &Stamp::new(at, "w".parse()?)).await?,
            Written::Applied,
            "removing a rating"
        );
        ensure_table(&*store, &LATER).await?;
        let late = store.put(&key.parse()?, &"5".try_into()?, &Stamp::new(1_721_757_100_000, "w".parse()?)).await?;
        ensure_stale(&late, at, "the removed rating once more")?;
        ensure_table(&*store, &LATER).await?;
        put_new(&*store, key, "4", at + 1).await?;
        ensure_eq!(shown(&*store, key).await?, Some(("4".to_owned(), at + 1)), "a rating after the removal");
    }
    Ok(())
}

async fn ensure_table(store: &dyn OrderedStore, rows: &[Row]) -> Verdict {
    for user in ["User#1/", "User#2/"] {
        let page = store.list(Some(&Key::new(user)?), None, 100).await?;
        let mut found: Vec<_> = page.entries.iter().map(|entry| entry.key.as_str()).collect();
        found.sort_unstable();
        let expected: Vec<_> = rows.iter().map(|row| row.0).filter(|key| key.starts_with(user)).collect();
        ensure_eq!(found, expected, "the rows of {user}");
    }
    for (key, rating, at) in rows {
        ensure_eq!(shown(store, key).await?, Some(((*rating).to_owned(), *at)), "the row of {key}");
    }
    let rows_and_no_more = store.list(None, None, 100).await?.entries.len();
    ensure_eq!(rows_and_no_more, rows.len(), "rows in all");
    Ok(())
}

/// A write that arrives a second time does not undo another write that landed in between.
pub(super) async fn a_hedged_write_does_not_undo_what_came_between(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "hedged", 10).await?;
    put_new(&*store, "key", "between", 20).await?;
    let hedge = store.put(&"key".parse()?, &"hedged".try_into()?, &Stamp::new(10, "w".parse()?)).await?;
    ensure_stale(&hedge, 20, "the second copy of the hedged write")?;
    ensure_eq!(shown(&*store, "key").await?, Some(("between".to_owned(), 20)), "what the key shows after the hedge");
    Ok(())
}

/// If the first attempt of a write is lost, its retry keeps the stamp of the first attempt. The retry does not undo a
/// newer write.
pub(super) async fn a_retry_counts_from_its_first_attempt(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "key", "between", 20).await?;
    let retry = store.put(&"key".parse()?, &"retried".try_into()?, &Stamp::new(10, "w".parse()?)).await?;
    ensure_stale(&retry, 20, "a retry with its first stamp")?;
    let retry = store.delete(&"key".parse()?, &Stamp::new(10, "w".parse()?)).await?;
    ensure_stale(&retry, 20, "a retried delete with its first stamp")?;
    ensure_eq!(shown(&*store, "key").await?, Some(("between".to_owned(), 20)), "what the key shows after the retries");
    in_any_order(world).await
}

/// Applies the entries of a stream in parallel, so that they arrive in any order.
async fn in_any_order(world: &World) -> Result<(), Failure> {
    let store = world.ordered(SEQUENCE)?;
    let mut rng = world.rng();
    let mut entries: Vec<i64> = (1..=40).collect();
    rng.shuffle(&mut entries);
    let mut newest = 0;
    for at in entries {
        let written =
            store.put(&"stream".parse()?, &at.to_string().as_str().try_into()?, &Stamp::new(at, "w".parse()?)).await?;
        ensure_eq!(written == Written::Applied, at > newest, "whether {at} is applied after {newest}");
        newest = newest.max(at);
        ensure_eq!(shown(&*store, "stream").await?, Some((newest.to_string(), newest)), "what the stream shows");
    }
    Ok(())
}
