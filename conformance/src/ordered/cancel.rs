//! Futures that are dropped at each of their points.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Key, OrderedStore, StoreExt, Written};

use super::order::Write;
use super::{SEQUENCE, delete_new, listed, put_new, shown};
use crate::case::Verdict;
use crate::failure::{ensure, ensure_eq};
use crate::link::{Link, Linked, drop_after, polls};
use crate::world::World;

pub(super) async fn dropping_any_write_leaves_one_winner(world: &World) -> Verdict {
    let before = Write::new(1, "w", false)?;
    for (deletes, known) in [(false, false), (false, true), (true, false), (true, true)] {
        let write = Write::new(2, "w", deletes)?;
        let far: Arc<Linked<dyn OrderedStore>> = Linked::new(world.ordered(SEQUENCE)?, Link::gated());
        let probe = Key::new(format!("probe-{deletes}-{known}"))?;
        let (points, written) = polls(write.make(&*far, &probe)).await;
        ensure_eq!(written?, Written::Applied, "a write that is not dropped");
        ensure!(points > 0, "a gated call has no point to be dropped at");
        for point in 0..points {
            let key = Key::new(format!("{deletes}-{known}-{point}"))?;
            if known {
                before.make(&*far, &key).await?;
            }
            let dropped = drop_after(write.make(&*far, &key), point).await;
            ensure!(dropped.is_none(), "the call was through at point {point} of {points}");
            let fresh = world.client().await?.ordered("ordered", SEQUENCE)?;
            ensure_whole(&*fresh, &key, known.then_some(&before), &write).await?;
            let again = write.make(&*fresh, &key).await?;
            ensure!(matches!(again, Written::Applied | Written::Duplicate), "{write:?} again: {again:?}");
            ensure_eq!(write.make(&*fresh, &key).await?, Written::Duplicate, "{write:?} a third time");
            write.ensure_shown(&*fresh, &key).await?;
            put_new(&*far, &format!("other-{deletes}-{known}-{point}"), "value", 1).await?;
        }
    }
    Ok(())
}

/// It is wholly done or wholly not done.
async fn ensure_whole(store: &dyn OrderedStore, key: &Key, before: Option<&Write>, write: &Write) -> Verdict {
    if write.ensure_shown(store, key).await.is_ok() {
        return Ok(());
    }
    match before {
        Some(before) => before.ensure_shown(store, key).await,
        None => {
            ensure_eq!(store.get(key).await?, None, "a key whose first write was dropped");
            Ok(())
        }
    }
}

/// A sequence's purge that forgets some of ten tombstones, and no value.
pub(super) async fn dropping_a_purge_resurrects_nothing(world: &World) -> Verdict {
    let moment = Duration::from_millis(1);
    let far: Arc<Linked<dyn OrderedStore>> = Linked::new(world.ordered(SEQUENCE)?, Link::gated());
    let (points, purged) = polls(far.purge(moment, 3)).await;
    ensure_eq!(purged?.deleted, 0, "tombstones purged when there is none");
    for point in 0..points {
        put_new(&*far, &format!("live-{point}"), "value", 1).await?;
        for number in 0..10 {
            let key = format!("gone-{point}-{number}");
            put_new(&*far, &key, "value", 1).await?;
            delete_new(&*far, &key, 2).await?;
        }
        world.pass(moment * 5).await;
        let dropped = drop_after(far.purge(moment, 3), point).await;
        ensure!(dropped.is_none(), "the purge was through at point {point} of {points}");
        let fresh = world.client().await?.ordered("ordered", SEQUENCE)?;
        let live: Vec<_> = (0..=point).map(|number| format!("live-{number}")).collect();
        ensure_eq!(listed(&*fresh, 100).await?, live, "the keys listed after a dropped purge");
        let left = fresh.purge(moment, 100).await?.deleted;
        ensure!((7..=10).contains(&left), "{left} of 10 tombstones were left by a purge of at most 3");
        ensure_eq!(shown(&*far, &format!("live-{point}")).await?, Some(("value".to_owned(), 1)), "a value");
    }
    Ok(())
}
