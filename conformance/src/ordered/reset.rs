//! Resets free a key from a stamp that is too far ahead. A reset names the stamp that it removes.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{ErrorKind, OrderedOptions, OrderedStore, Reset, Stamp, Written};

use super::clock::{aged, store_time};
use super::{SEQUENCE, delete_new, ensure_stale, listed, put_new, shown, stamp};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::{answered, race};
use crate::world::World;

async fn reset(store: &dyn OrderedStore, key: &str, at: i64, writer: &str) -> Result<Reset, Failure> {
    let (key, stamp) = (key.parse()?, stamp(at, writer)?);
    answered(|| store.reset(&key, &stamp)).await
}

/// A reset frees a key that a program has locked with a stamp in microseconds, far ahead of the clock.
pub(super) async fn a_locked_key_is_freed(world: &World) -> Verdict {
    let (free, guarded) = (world.ordered(aged(OrderedOptions::TOMBSTONE_AGE))?, world.ordered(OrderedOptions::time())?);
    let now = store_time(world).await?;
    let far = now.saturating_mul(1_000);
    put_new(&*free, "value", "locked", far).await?;
    delete_new(&*free, "deleted", far).await?;
    for key in ["value", "deleted"] {
        let refused = guarded.put(&key.parse()?, &"honest".try_into()?, &stamp(now, "w")?).await?;
        let current = ensure_matches!(refused, Written::Stale { current } => current, "a put to a locked key");
        ensure_eq!(guarded.reset(&key.parse()?, &current).await?, Reset::Reset, "resetting {key}");
        put_new(&*guarded, key, "honest", now).await?;
        ensure_eq!(shown(&*free, key).await?, Some(("honest".to_owned(), now)), "what {key} shows");
        ensure_eq!(guarded.reset(&key.parse()?, &current).await?, stale(now)?, "resetting {key} once more");
        ensure_eq!(shown(&*free, key).await?, Some(("honest".to_owned(), now)), "what {key} shows after that");
    }
    Ok(())
}

fn stale(at: i64) -> Result<Reset, Failure> {
    Ok(Reset::Stale { current: stamp(at, "w")? })
}

pub(super) async fn another_stamp_is_not_reset(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "value", "value", 5).await?;
    delete_new(&*store, "deleted", 5).await?;
    for key in ["value", "deleted"] {
        for (at, writer) in [(4, "w"), (6, "w"), (5, "v"), (5, "x"), (5, "ww"), (5, "W"), (-5, "w")] {
            ensure_eq!(reset(&*store, key, at, writer).await?, stale(5)?, "resetting {key} at {at} by {writer}");
        }
        let older = store.put(&key.parse()?, &"older".try_into()?, &stamp(4, "w")?).await?;
        ensure_stale(&older, 5, format_args!("an older put to {key}"))?;
    }
    ensure_eq!(reset(&*store, "never", 5, "w").await?, Reset::Absent, "resetting what never was");
    ensure_eq!(shown(&*store, "value").await?, Some(("value".to_owned(), 5)), "the value");
    ensure_eq!(listed(&*store, 10).await?, ["value"], "the keys listed");
    Ok(())
}

/// A reset deletes a tombstone, and a later purge does not find it.
pub(super) async fn a_tombstone_is_reset(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for key in ["one", "other"] {
        delete_new(&*store, key, 5).await?;
    }
    ensure_eq!(reset(&*store, "one", 5, "w").await?, Reset::Reset, "resetting a tombstone");
    ensure_eq!(reset(&*store, "one", 5, "w").await?, Reset::Absent, "resetting it once more");
    put_new(&*store, "one", "older", 4).await?;
    ensure_eq!(store.purge(Duration::ZERO, 100).await?.deleted, 1, "tombstones that are left");
    ensure_eq!(listed(&*store, 10).await?, ["one"], "the keys listed");
    Ok(())
}

pub(super) async fn what_is_reset_leaves_nothing(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for key in ["one", "other"] {
        put_new(&*store, key, "value", 5).await?;
    }
    ensure_eq!(reset(&*store, "one", 5, "w").await?, Reset::Reset, "resetting a value");
    ensure_eq!(shown(&*store, "one").await?, None, "what the key shows");
    ensure_eq!(listed(&*store, 10).await?, ["other"], "the keys listed");
    ensure_eq!(store.purge(Duration::ZERO, 100).await?.deleted, 0, "tombstones that it left");
    delete_new(&*store, "one", 4).await?;
    put_new(&*store, "one", "again", 5).await?;
    ensure_eq!(listed(&*store, 10).await?, ["one", "other"], "the keys listed at last");
    Ok(())
}

/// A reset distinguishes stamps that would be equal as doubles.
pub(super) async fn stamps_close_to_each_other_are_told_apart(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for (number, at) in [i64::MIN, -(1 << 53) - 1, -1, 0, (1 << 53) + 1, i64::MAX].into_iter().enumerate() {
        let key = format!("key-{number}");
        put_new(&*store, &key, "value", at).await?;
        for other in [at.wrapping_sub(1), at.wrapping_add(1), at.wrapping_neg()] {
            if other != at {
                ensure_eq!(reset(&*store, &key, other, "w").await?, stale(at)?, "resetting {at} as {other}");
            }
        }
        ensure_eq!(reset(&*store, &key, at, "w").await?, Reset::Reset, "resetting {at}");
    }
    ensure_eq!(listed(&*store, 10).await?, [""; 0], "the keys listed");
    Ok(())
}

/// A reset races with a newer write. Whichever comes first, the newer write stays.
pub(super) async fn racing_resets_undo_no_newer_write(world: &World) -> Verdict {
    for round in 0..world.profile().rounds * 8 {
        let store = world.ordered(SEQUENCE)?;
        let key = format!("key-{round}");
        put_new(&*store, &key, "locked", 5).await?;
        let answers = race(6, |number| {
            let (store, key) = (Arc::clone(&store), key.clone());
            async move {
                if number == 0 {
                    put_new(&*store, &key, "newer", 6).await?;
                    return Ok(None);
                }
                reset(&*store, &key, 5, "w").await.map(Some)
            }
        })
        .await?;
        ensure_eq!(shown(&*store, &key).await?, Some(("newer".to_owned(), 6)), "what the key shows");
        let done = answers.iter().filter(|answer| **answer == Some(Reset::Reset)).count();
        ensure!(done <= 1, "{done} resets of one stamp");
    }
    Ok(())
}

pub(super) async fn a_lost_reset_is_made_again(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for (fate, again) in [(Fate::ReplyLost, Reset::Absent), (Fate::RequestLost, Reset::Reset)] {
        put_new(&*store, "key", "locked", 5).await?;
        let link = Link::script([fate]);
        let far: Arc<dyn OrderedStore> = link.before(&store);
        let (key, locked) = ("key".parse()?, Stamp::new(5, "w".parse()?));
        let lost = far.reset(&key, &locked).await;
        ensure_matches!(lost, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a reset, {fate:?}");
        ensure_eq!(far.reset(&key, &locked).await?, again, "the reset again, {fate:?}");
    }
    let link = Link::script([Fate::Late]);
    let far: Arc<dyn OrderedStore> = link.before(&store);
    put_new(&*store, "key", "locked", 5).await?;
    let _ = far.reset(&"key".parse()?, &stamp(5, "w")?).await;
    put_new(&*store, "key", "newer", 6).await?;
    link.land().await;
    ensure_eq!(shown(&*store, "key").await?, Some(("newer".to_owned(), 6)), "a newer write after a late reset");
    Ok(())
}
