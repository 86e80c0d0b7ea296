//! Stamps that are times: the purge horizon, and the guard against stamps ahead of the store's clock.

use std::time::{Duration, Instant};

use storagebox_core::{Backend, Certainty, ErrorKind, OrderedOptions, OrderedStore, Result, Stamp, Stamping, Written};

use super::{SEQUENCE, ensure_stale, listed, put_new, shown};
use crate::ends::before_its_end;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: Duration = Duration::from_secs(24 * 3_600);

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Returns options that keep tombstones for the time `age` and set no limit on the skew.
pub(super) fn aged(age: Duration) -> OrderedOptions {
    OrderedOptions { stamping: FREE, tombstone_age: age }
}

const FREE: Stamping = Stamping::Time { max_skew: None };

/// Returns a lower bound of the store's time, found by searching for the stamps that the store refuses as too old.
#[allow(clippy::disallowed_methods, reason = "on a real clock, the search takes real time")]
pub(super) async fn store_time(world: &World) -> Result<i64, Failure> {
    let probe = world.store().ordered_store(&"probe".parse()?, aged(DAY))?;
    // The clock itself cannot be read: the clock may be on a server, or moved by a test.
    let (mut old, mut young, mut learned) = (0, 1 << 45, Instant::now());
    while young - old > 1 {
        let middle = old + (young - old) / 2;
        match probe.put(&format!("{middle}").parse()?, &"".try_into()?, &Stamp::new(middle, "probe".parse()?)).await? {
            Written::TooOld { .. } => (old, learned) = (middle, Instant::now()),
            _ => young = middle,
        }
    }
    let since = if world.can_travel() { Duration::ZERO } else { learned.elapsed() };
    Ok(young + millis(DAY) + millis(since))
}

fn within(skew: i64) -> OrderedOptions {
    let skew = Duration::from_millis(skew.unsigned_abs());
    OrderedOptions { stamping: Stamping::Time { max_skew: Some(skew) }, ..OrderedOptions::time() }
}

pub(super) async fn a_stamp_before_the_horizon_is_too_old(world: &World) -> Verdict {
    let store = world.ordered(aged(Duration::from_secs(3_600)))?;
    let now = store_time(world).await?;
    for at in [now - 2 * HOUR, now - HOUR - MINUTE, 1, 0, -1, i64::MIN] {
        ensure_too_old(
            "a put",
            at,
            &store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(at, "w".parse()?)).await?,
        )?;
        ensure_too_old("a delete", at, &store.delete(&"key".parse()?, &Stamp::new(at, "w".parse()?)).await?)?;
    }
    ensure_eq!(shown(&*store, "key").await?, None, "what the refused writes left");
    put_new(&*store, "key", "value", now - HOUR + 10 * MINUTE).await?;
    ensure_eq!(listed(&*store, 10).await?, ["key"], "the keys listed");
    Ok(())
}

/// Checks that the write at the time `at` was too old, and that the reported horizon is later than `at`.
pub(super) fn ensure_too_old(what: &str, at: i64, written: &Written) -> Verdict {
    let horizon = ensure_matches!(written, Written::TooOld { horizon } => *horizon, "{what} at {at}");
    ensure!(at < horizon, "{what} at {at} is too old for the horizon {horizon}");
    Ok(())
}

/// If a write is refused as too old, the answer contains the horizon, even if the key was never written.
pub(super) async fn what_is_too_old_names_the_horizon(world: &World) -> Verdict {
    let store = world.ordered(aged(Duration::from_secs(3_600)))?;
    let now = store_time(world).await?;
    for at in [now - 2 * HOUR, i64::MIN] {
        let refused = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(at, "w".parse()?)).await?;
        let horizon = ensure_matches!(refused, Written::TooOld { horizon } => horizon, "a put at {at}");
        let before = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(horizon - 1, "w".parse()?)).await?;
        ensure_too_old("a put just before the horizon", horizon - 1, &before)?;
        put_new(&*store, &format!("key of {at}"), "value", horizon + MINUTE).await?;
    }
    Ok(())
}

/// A write with a stamp before the horizon is `TooOld`, even if the write is newer than the value of its key.
pub(super) async fn a_newer_stamp_before_the_horizon_is_too_old(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(aged(age))?;
    let at = store_time(world).await? + 2 * millis(age);
    put_new(&*store, "key", "value", at).await?;
    world.pass(age * 4).await;
    ensure_too_old(
        "a newer put",
        at + 1,
        &store.put(&"key".parse()?, &"newer".try_into()?, &Stamp::new(at + 1, "w".parse()?)).await?,
    )?;
    ensure_too_old("a newer delete", at + 1, &store.delete(&"key".parse()?, &Stamp::new(at + 1, "w".parse()?)).await?)?;
    ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), at)), "the value of the key");
    Ok(())
}

/// A retry is recognised even if it is late, because the store compares the stamps before it tests the horizon.
pub(super) async fn what_stands_there_decides_before_the_horizon(world: &World) -> Verdict {
    let age = world.short();
    let store = world.ordered(aged(age))?;
    let at = store_time(world).await?;
    before_its_end(world, age, put_new(&*store, "key", "value", at)).await?;
    world.pass(age * 4).await;
    let put = async |value: &str, at: i64| {
        store.put(&"key".parse()?, &value.try_into()?, &Stamp::new(at, "w".parse()?)).await
    };
    ensure_eq!(put("value", at).await?, Written::Duplicate, "the same write behind the horizon");
    ensure_eq!(put("other", at).await?, Written::Mismatch, "another value with its stamp");
    ensure_stale(&put("value", at - 1).await?, at, "an older write")?;
    ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), at)), "the value of the key");
    Ok(())
}

pub(super) async fn the_earliest_and_latest_times_are_judged_right(world: &World) -> Verdict {
    let widest = Duration::from_secs(3_155_760_000);
    let guarded = OrderedOptions { stamping: Stamping::Time { max_skew: Some(widest) }, tombstone_age: widest };
    let store = world.ordered(guarded)?;
    let first = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(i64::MIN, "w".parse()?)).await?;
    ensure_too_old("the first stamp of all", i64::MIN, &first)?;
    let last = store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(i64::MAX, "w".parse()?)).await;
    ensure_matches!(last, Err(error) if error.kind() == ErrorKind::InvalidInput, "the last stamp of all");
    put_new(&*store, "key", "value", 0).await?;
    put_new(&*store, "key", "value", 1).await?;
    let free = world.store().ordered_store(&"free".parse()?, aged(OrderedOptions::TOMBSTONE_AGE))?;
    put_new(&*free, "key", "value", i64::MAX).await?;
    let older = free.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(i64::MAX - 1, "w".parse()?)).await?;
    ensure_stale(&older, i64::MAX, "a put at the last stamp but one")?;
    ensure_eq!(
        free.delete(&"key".parse()?, &Stamp::new(i64::MAX, "w".parse()?)).await?,
        Written::Applied,
        "a delete at the last stamp of all"
    );
    Ok(())
}

pub(super) async fn a_stamp_too_far_ahead_is_refused(world: &World) -> Verdict {
    let store = world.ordered(within(HOUR))?;
    let now = store_time(world).await?;
    for at in [now + HOUR + MINUTE, now + 2 * HOUR, i64::MAX - 1, i64::MAX] {
        ensure_ahead(
            "a put",
            at,
            store.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(at, "w".parse()?)).await,
        )?;
        ensure_ahead("a delete", at, store.delete(&"key".parse()?, &Stamp::new(at, "w".parse()?)).await)?;
    }
    if world.can_travel() {
        world.pass(Duration::from_secs(2 * 3_600)).await;
        put_new(&*store, "key", "value", now + 2 * HOUR).await?;
    }
    Ok(())
}

fn ensure_ahead(what: &str, at: i64, answer: Result<Written>) -> Verdict {
    let error = ensure_matches!(answer, Err(error) => error, "{what} at {at}, more than the skew ahead");
    ensure_eq!(error.kind(), ErrorKind::InvalidInput, "the kind of {error}");
    ensure_eq!(error.certainty(), Certainty::NotApplied, "the certainty of {error}");
    Ok(())
}

/// Returns the store's time: the latest stamp that the store accepts, minus the allowed skew.
async fn time_of_the_guard(store: &dyn OrderedStore) -> Result<i64, Failure> {
    let (mut near, mut far) = (0, 1 << 45);
    while far - near > 1 {
        let middle = near + (far - near) / 2;
        match store.put(&format!("{middle}").parse()?, &"".try_into()?, &Stamp::new(middle, "probe".parse()?)).await {
            Err(error) if error.kind() == ErrorKind::InvalidInput => far = middle,
            answer => {
                let _ = answer?;
                near = middle;
            }
        }
    }
    Ok(near - HOUR)
}

/// The horizon and the guard against stamps ahead of the clock do not round the time.
#[allow(clippy::disallowed_methods, reason = "how much time has passed for real")]
pub(super) async fn the_guard_and_the_horizon_have_one_time(world: &World) -> Verdict {
    if world.can_travel() {
        // The new time is not at the start of a minute or second.
        world.pass(Duration::from_millis(1_951_370)).await;
    }
    let begun = Instant::now();
    let by_the_horizon = store_time(world).await?;
    let by_the_guard = time_of_the_guard(&*world.ordered(within(HOUR))?).await?;
    let apart = by_the_guard.abs_diff(by_the_horizon);
    let passed = begun.elapsed();
    ensure!(u128::from(apart) <= passed.as_millis() + 1, "the guard is {apart} ms from the horizon, after {passed:?}");
    Ok(())
}

pub(super) async fn a_refused_stamp_leaves_nothing(world: &World) -> Verdict {
    let store = world.ordered(within(HOUR))?;
    let now = store_time(world).await?;
    put_new(&*store, "known", "value", now).await?;
    for key in ["known", "new"] {
        ensure_ahead(
            "a put",
            now + 2 * HOUR,
            store.put(&key.parse()?, &"refused".try_into()?, &Stamp::new(now + 2 * HOUR, "w".parse()?)).await,
        )?;
        ensure_ahead(
            "a delete",
            now + 3 * HOUR,
            store.delete(&key.parse()?, &Stamp::new(now + 3 * HOUR, "w".parse()?)).await,
        )?;
    }
    ensure_eq!(shown(&*store, "known").await?, Some(("value".to_owned(), now)), "the value that was there");
    ensure_eq!(listed(&*store, 10).await?, ["known"], "the keys listed");
    for key in ["known", "new"] {
        put_new(&*store, key, "next", now + 1).await?;
    }
    Ok(())
}

/// A stamp ahead of the clock by at most the skew is accepted. A stamp behind the clock is checked only against the
/// horizon.
pub(super) async fn a_stamp_within_the_skew_is_taken(world: &World) -> Verdict {
    let store = world.ordered(within(HOUR))?;
    let now = store_time(world).await?;
    for at in [now - 24 * HOUR, now - 2 * HOUR, now, now + HOUR / 2, now + HOUR] {
        put_new(&*store, "key", "value", at).await?;
        ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), at)), "a value at {at}, now is {now}");
    }
    Ok(())
}

/// The default options refuse a stamp in microseconds or nanoseconds, which would lock its key forever.
pub(super) async fn a_stamp_in_a_smaller_unit_is_refused_by_default(world: &World) -> Verdict {
    let store = world.ordered(OrderedOptions::default())?;
    let now = store_time(world).await?;
    put_new(&*store, "key", "value", now + 23 * HOUR).await?;
    for at in [now + 24 * HOUR + MINUTE, now.saturating_mul(1_000), now.saturating_mul(1_000_000)] {
        let put = store.put(&"key".parse()?, &"locked".try_into()?, &Stamp::new(at, "w".parse()?)).await;
        ensure_ahead("a put", at, put)?;
        ensure_ahead("a delete", at, store.delete(&"key".parse()?, &Stamp::new(at, "w".parse()?)).await)?;
    }
    put_new(&*store, "key", "next", now + 23 * HOUR + 1).await
}

pub(super) async fn without_a_skew_any_stamp_ahead_is_taken(world: &World) -> Verdict {
    let store = world.ordered(aged(OrderedOptions::TOMBSTONE_AGE))?;
    let now = store_time(world).await?;
    for at in [now, now + HOUR, now + 1_000_000 * HOUR, i64::MAX - 1, i64::MAX] {
        put_new(&*store, "key", "value", at).await?;
        ensure_eq!(shown(&*store, "key").await?, Some(("value".to_owned(), at)), "a value at {at}, now is {now}");
    }
    Ok(())
}

/// A namespace with sequence numbers does not depend on time: stamps of any size are accepted, and old tombstones
/// remain.
pub(super) async fn time_means_nothing_to_a_sequence(world: &World) -> Verdict {
    let store = world.ordered(OrderedOptions { tombstone_age: world.short(), ..SEQUENCE })?;
    put_new(&*store, "early", "value", i64::MIN).await?;
    put_new(&*store, "late", "value", i64::MAX).await?;
    ensure_eq!(store.delete(&"gone".parse()?, &Stamp::new(2, "w".parse()?)).await?, Written::Applied, "a delete");
    world.pass(world.short() * 3).await;
    world.upkeep().await?;
    let older = store.put(&"gone".parse()?, &"value".try_into()?, &Stamp::new(1, "w".parse()?)).await?;
    ensure_stale(&older, 2, "a put older than a tombstone of long ago")?;
    put_new(&*store, "early", "value", i64::MIN + 1).await?;
    put_new(&*store, "other", "value", -5).await?;
    ensure_eq!(listed(&*store, 10).await?, ["early", "late", "other"], "the keys listed");
    Ok(())
}
