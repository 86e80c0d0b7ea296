//! Lost replies, requests that land late or twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use storagebox_core::{ErrorKind, Key, OrderedStore, Result, Stamp, Written};

use super::order::Write;
use super::{SEQUENCE, delete_new, ensure_stale, listed, put_new, shown};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::answered;
use crate::world::World;

type Far = Arc<dyn OrderedStore>;

fn linked(store: &Arc<dyn OrderedStore>, fate: Fate) -> (Far, Arc<Link>) {
    let link = Link::script([fate]);
    (link.before(store), link)
}

fn ensure_lost(answer: Result<Written>) -> Verdict {
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a call whose reply is lost");
    Ok(())
}

pub(super) async fn a_lost_reply_is_found_again(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    let (far, _) = linked(&store, Fate::ReplyLost);
    ensure_lost(far.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await)?;
    ensure_eq!(
        far.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await?,
        Written::Duplicate,
        "a put whose reply was lost, again"
    );
    let (far, _) = linked(&store, Fate::ReplyLost);
    ensure_lost(far.delete(&"key".parse()?, &Stamp::new(6, "w".parse()?)).await)?;
    ensure_eq!(
        far.delete(&"key".parse()?, &Stamp::new(6, "w".parse()?)).await?,
        Written::Duplicate,
        "a delete whose reply was lost, again"
    );
    let (far, _) = linked(&store, Fate::ReplyLost);
    ensure_lost(far.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(7, "w".parse()?)).await)?;
    put_new(&*store, "key", "newer", 8).await?;
    let beaten = far.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(7, "w".parse()?)).await?;
    ensure_stale(&beaten, 8, "a put whose reply was lost, again after a newer one")?;
    Ok(())
}

pub(super) async fn a_lost_request_is_made_again(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    let (far, _) = linked(&store, Fate::RequestLost);
    ensure_lost(far.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await)?;
    ensure_eq!(shown(&*store, "key").await?, None, "what a lost request left");
    ensure_eq!(
        far.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await?,
        Written::Applied,
        "the put again"
    );
    let (far, _) = linked(&store, Fate::RequestLost);
    ensure_lost(far.delete(&"key".parse()?, &Stamp::new(6, "w".parse()?)).await)?;
    ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), 5)), "what a lost delete left");
    ensure_eq!(far.delete(&"key".parse()?, &Stamp::new(6, "w".parse()?)).await?, Written::Applied, "the delete again");
    Ok(())
}

pub(super) async fn what_lands_late_or_twice_changes_nothing(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for (number, fate) in [Fate::Late, Fate::Twice].into_iter().enumerate() {
        let (over_put, over_delete) = (format!("put-{number}"), format!("delete-{number}"));
        let (far, put) = linked(&store, fate);
        let _ = far.put(&over_put.as_str().parse()?, &"late".try_into()?, &Stamp::new(5, "w".parse()?)).await;
        let (far, delete) = linked(&store, fate);
        let _ = far.delete(&over_put.as_str().parse()?, &Stamp::new(6, "w".parse()?)).await;
        let (far, back) = linked(&store, fate);
        let _ = far.put(&over_delete.as_str().parse()?, &"late".try_into()?, &Stamp::new(5, "w".parse()?)).await;
        put_new(&*store, &over_put, "newest", 7).await?;
        delete_new(&*store, &over_delete, 7).await?;
        let under_way = [&put, &delete, &back].map(|link| link.under_way());
        ensure_eq!(under_way, [1; 3], "requests that are still in flight");
        for link in [back, delete, put] {
            link.land().await;
        }
        ensure_eq!(shown(&*store, &over_put).await?, Some(("newest".to_owned(), 7)), "a value after {fate:?} ones");
        ensure_eq!(shown(&*store, &over_delete).await?, None, "a deleted key after a {fate:?} put");
    }
    ensure_eq!(listed(&*store, 10).await?, ["put-0", "put-1"], "the keys listed");
    Ok(())
}

/// Under random faults, each write is repeated with its stamp until it is answered. A key never shows a write older
/// than an acknowledged write, and in the end shows the newest write.
pub(super) async fn random_faults_leave_the_newest(world: &World) -> Verdict {
    let mut rng = world.rng();
    for round in 0..world.profile().rounds {
        let store = world.ordered(SEQUENCE)?;
        let link = Link::random(rng.u64(..), 30);
        let far: Far = link.before(&store);
        let mut newest: BTreeMap<Key, Write> = BTreeMap::new();
        for _ in 0..60 {
            let key = Key::new(format!("{round}/{}", rng.u8(..4)))?;
            let write = Write::new(rng.i64(-20..20), ["a", "b"][rng.usize(..2)], rng.u8(..4) == 0)?;
            let written = answered(|| write.make(&*far, &key)).await?;
            ensure_told(newest.get(&key), &write, &written)?;
            let winner = newest.entry(key.clone()).or_insert_with(|| write.clone());
            if *winner < write {
                *winner = write;
            }
            winner.ensure_shown(&*store, &key).await?;
            if rng.u8(..4) == 0 {
                link.land().await;
            }
        }
        link.heal();
        link.land().await;
        for (key, winner) in &newest {
            winner.ensure_shown(&*store, key).await?;
        }
    }
    Ok(())
}

/// Checks the answer to `write`. The previous write of the key is `before`, because there is one caller at a time.
fn ensure_told(before: Option<&Write>, write: &Write, written: &Written) -> Verdict {
    let right = match (before, written) {
        (Some(before), Written::Stale { current }) => before > write && *current == before.stamp,
        (Some(before), Written::Applied) => write > before,
        // A lost attempt of `write` may have arrived.
        (Some(before), Written::Duplicate) => write >= before,
        (None, written) => matches!(written, Written::Applied | Written::Duplicate),
        _ => false,
    };
    ensure!(right, "{write:?} after {before:?} was answered {written:?}");
    Ok(())
}
