//! When tombstones are purged. No purge brings a deleted value back.

use std::time::Duration;

use storagebox_core::{Backend, OrderedOptions, OrderedStore, Stamp, Written};

use super::clock::{aged, ensure_too_old, millis, store_time};
use super::{SEQUENCE, delete_new, ensure_stale, listed, put_new, shown};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::world::World;

const MOMENT: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

pub(super) async fn a_tombstone_stays_for_its_age(world: &World) -> Verdict {
    let store = world.ordered(aged(HOUR))?;
    let now = store_time(world).await?;
    put_new(&*store, "key", "value", now - millis(HOUR) / 2).await?;
    delete_new(&*store, "key", now - millis(HOUR) / 4).await?;
    if world.can_travel() {
        // The stamp is now older than the horizon, but the tombstone arrived less than the tombstone age ago.
        world.pass(HOUR - Duration::from_secs(60)).await;
    }
    ensure_eq!(store.purge(MOMENT, 100).await?.deleted, 0, "tombstones purged before their age");
    ensure_eq!(world.upkeep().await?, 0, "what upkeep deleted before their age");
    let older =
        store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(now - millis(HOUR) / 3, "w".parse()?)).await?;
    ensure!(older != Written::Applied, "a put older than the tombstone is applied");
    ensure_eq!(shown(&*store, "key").await?, None, "the deleted key");
    Ok(())
}

pub(super) async fn a_tombstone_goes_after_its_age(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(aged(age))?;
    let now = store_time(world).await?;
    for key in ["a", "b", "c"] {
        delete_new(&*store, key, now + millis(age)).await?;
    }
    world.pass(age * 3).await;
    let purged = store.purge(age, 100).await?;
    ensure_eq!(
        (purged.deleted, purged.more),
        (3, false),
        "tombstones purged after their age, and whether more are left"
    );
    ensure_eq!(store.purge(age, 100).await?.deleted, 0, "tombstones purged a second time");
    for key in ["a", "b", "c"] {
        let late = store.put(&key.parse()?, &"value".try_into()?, &Stamp::new(now, "w".parse()?)).await?;
        ensure_too_old("a put older than the purged tombstone", now, &late)?;
        ensure_eq!(shown(&*store, key).await?, None, "the deleted key");
    }
    Ok(())
}

pub(super) async fn a_callers_longer_age_is_kept(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(aged(age))?;
    let now = store_time(world).await?;
    delete_new(&*store, "key", now + millis(age)).await?;
    world.pass(age * 3).await;
    ensure_eq!(store.purge(age * 1_000, 100).await?.deleted, 0, "tombstones younger than what the caller asked for");
    ensure_eq!(store.purge(age, 100).await?.deleted, 1, "tombstones of the namespace's age");
    Ok(())
}

/// A purge keeps a tombstone of any age whose stamp is ahead of the clock, because the tombstone must still refuse
/// older stamps.
pub(super) async fn a_tombstone_ahead_of_the_clock_stays(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(aged(age))?;
    let far = store_time(world).await? + 1_000 * millis(age);
    put_new(&*store, "key", "value", far - 2).await?;
    delete_new(&*store, "key", far).await?;
    delete_new(&*store, "never", i64::MAX).await?;
    world.pass(age * 3).await;
    ensure_eq!(store.purge(MOMENT, 100).await?.deleted, 0, "tombstones ahead of the clock that were purged");
    ensure_eq!(world.upkeep().await?, 0, "what upkeep deleted");
    for at in [far - 500 * millis(age), far - 2, far - 1] {
        let older = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(at, "w".parse()?)).await?;
        ensure_stale(&older, far, format_args!("a put at {at} after a delete at {far}"))?;
    }
    let older = store.put(&"never".parse()?, &"value".try_into()?, &Stamp::new(i64::MAX - 1, "w".parse()?)).await?;
    ensure_stale(&older, i64::MAX, "a put before the last stamp of all")?;
    ensure_eq!(listed(&*store, 10).await?, Vec::<String>::new(), "the keys listed");
    put_new(&*store, "key", "value", far + 1).await
}

/// A purge may delete or keep a tombstone at the horizon. In both cases, a later write with an older stamp is not
/// applied.
pub(super) async fn nothing_comes_back_at_the_edge_of_the_horizon(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(aged(age))?;
    let now = store_time(world).await?;
    let around: Vec<i64> = (-3..=3).collect();
    for step in &around {
        delete_new(&*store, &format!("key{step}"), now + millis(age) + step).await?;
    }
    // If the clock stands still, the horizon is now exactly between the stamps of the tombstones.
    world.pass(age * 2).await;
    store.purge(MOMENT, 100).await?;
    world.upkeep().await?;
    for step in &around {
        let (key, at) = (format!("key{step}"), now + millis(age) + step);
        for (at, writer) in [(at, "a"), (at - 1, "z"), (at - 1, "a"), (at - 2, "w")] {
            let older =
                store.put(&key.as_str().parse()?, &"value".try_into()?, &Stamp::new(at, writer.parse()?)).await?;
            ensure!(
                older != Written::Applied,
                "a put by {writer} at {at} is applied after a delete by w {step} off the horizon"
            );
        }
        ensure_eq!(shown(&*store, &key).await?, None, "the deleted key");
    }
    Ok(())
}

pub(super) async fn values_are_never_purged(world: &World) -> Verdict {
    let age = world.short();
    let now = store_time(world).await?;
    for (name, options, at) in
        [("time", aged(age), now + millis(age)), ("sequence", OrderedOptions { tombstone_age: age, ..SEQUENCE }, 1)]
    {
        let store = world.store().ordered_store(&name.parse()?, options)?;
        put_new(&*store, "stays", "value", at).await?;
        delete_new(&*store, "revived", at).await?;
        put_new(&*store, "revived", "value", at + 1).await?;
        world.pass(age * 3).await;
        ensure_eq!(store.purge(MOMENT, 100).await?.deleted, 0, "what a purge without tombstones deleted");
        world.upkeep().await?;
        ensure_eq!(listed(&*store, 10).await?, ["revived", "stays"], "the keys listed after a purge");
    }
    Ok(())
}

pub(super) async fn a_purge_is_bounded(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for number in 0..10 {
        delete_new(&*store, &format!("key-{number}"), 1).await?;
    }
    world.pass(MOMENT * 5).await;
    let (mut deleted, mut more) = (0, true);
    while more {
        let purged = store.purge(MOMENT, 3).await?;
        ensure!(purged.deleted <= 3, "{} tombstones purged for a limit of 3", purged.deleted);
        ensure!(purged.deleted > 0 || !purged.more, "a purge deleted nothing and says that there is more");
        (deleted, more) = (deleted + purged.deleted, purged.more);
    }
    ensure_eq!(deleted, 10, "tombstones purged when it says that there are no more");
    let last = store.purge(MOMENT, 3).await?;
    ensure_eq!((last.deleted, last.more), (0, false), "a purge when none is left");
    Ok(())
}

pub(super) async fn upkeep_purges_by_the_same_rules(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(aged(age))?;
    let now = store_time(world).await?;
    delete_new(&*store, "due", now + millis(age)).await?;
    delete_new(&*store, "ahead", now + 1_000 * millis(age)).await?;
    ensure_eq!(world.upkeep().await?, 0, "what upkeep deleted before the age");
    world.pass(age * 3).await;
    let deleted = world.upkeep().await?;
    ensure!(deleted <= 1, "upkeep deleted {deleted} of one tombstone that is due and one that is not");
    let late = store.put(&"due".parse()?, &"value".try_into()?, &Stamp::new(now, "w".parse()?)).await?;
    ensure_too_old("a put older than the one that was due", now, &late)?;
    let older =
        store.put(&"ahead".parse()?, &"value".try_into()?, &Stamp::new(now + 900 * millis(age), "w".parse()?)).await?;
    ensure_stale(&older, now + 1_000 * millis(age), "a put older than the tombstone that is left")?;
    Ok(())
}

pub(super) async fn a_sequences_tombstones_go_by_an_explicit_call_alone(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(OrderedOptions { tombstone_age: age, ..SEQUENCE })?;
    put_new(&*store, "key", "value", 1).await?;
    delete_new(&*store, "key", 2).await?;
    world.pass(age * 3).await;
    for _ in 0..3 {
        ensure_eq!(world.upkeep().await?, 0, "what upkeep deleted of a sequence");
    }
    let older = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(1, "w".parse()?)).await?;
    ensure_stale(&older, 2, "a put older than the tombstone")?;
    ensure_eq!(store.purge(age * 1_000, 100).await?.deleted, 0, "tombstones younger than what the caller asked for");
    ensure_eq!(store.purge(MOMENT, 100).await?.deleted, 1, "tombstones purged by an explicit call");
    Ok(())
}

/// After a purge has deleted the tombstone of a key, a write with an older stamp is applied.
pub(super) async fn an_explicit_purge_forgets_the_tombstone(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    delete_new(&*store, "key", 5).await?;
    delete_new(&*store, "last", i64::MAX).await?;
    put_new(&*store, "live", "value", 5).await?;
    world.pass(MOMENT * 5).await;
    ensure_eq!(store.purge(MOMENT, 100).await?.deleted, 2, "tombstones purged");
    put_new(&*store, "key", "value", 1).await?;
    put_new(&*store, "last", "value", 1).await?;
    ensure_eq!(listed(&*store, 10).await?, ["key", "last", "live"], "the keys listed");
    let older = store.put(&"live".parse()?, &"value".try_into()?, &Stamp::new(4, "w".parse()?)).await?;
    ensure_stale(&older, 5, "a put older than a value")?;
    Ok(())
}
