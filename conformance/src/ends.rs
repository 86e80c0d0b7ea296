//! Holds, leases and records that expire live until their time and not longer.

use std::time::{Duration, Instant};

use storagebox_core::{MAX_DURATION, async_trait};

use crate::failure::{Failure, Verdict, ensure};
use crate::world::World;

/// A kind of entry that a call creates for a time, such as a hold or a lease.
#[async_trait]
pub(crate) trait Ending: Sync {
    /// Creates an entry that has this name and lasts this long.
    async fn begin(&self, name: &str, lasts: Duration) -> Verdict;

    /// Returns the remaining time of the entry, `None` if the entry has ended, or `Some(None)` if no call reports the
    /// time.
    async fn left(&self, name: &str) -> Result<Option<Option<Duration>>, Failure>;
}

const MICRO: Duration = Duration::from_micros(1);
const MILLI: Duration = Duration::from_millis(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Durations that are not whole milliseconds or not whole seconds.
const ODD: [Duration; 6] = [
    MILLI,
    Duration::from_micros(1_500),
    Duration::from_micros(999_999),
    Duration::from_millis(1_400),
    Duration::from_micros(1_999_999),
    Duration::from_millis(61_001),
];

/// On a real clock, a check reads an entry this long before the entry ends.
const MARGIN: Duration = Duration::from_millis(250);

/// The maximum number of attempts at a check.
const ATTEMPTS: usize = 20;

pub(crate) async fn ensure_ends_in_time(world: &World, ending: &dyn Ending) -> Verdict {
    match stands_still(world, ending).await? {
        true => ensure_ends_to_the_microsecond(world, ending).await?,
        false => ensure_ends_between_seconds(world, ending).await?,
    }
    if world.can_travel() { ensure_left(world, ending).await } else { Ok(()) }
}

/// Returns whether the clock stands still unless the suite moves it.
#[allow(clippy::disallowed_methods, reason = "it is looked at whether time goes on")]
async fn stands_still(world: &World, ending: &dyn Ending) -> Result<bool, Failure> {
    if !world.can_travel() {
        return Ok(false);
    }
    ending.begin("probe", MILLI * 20).await?;
    tokio::time::sleep(MILLI * 40).await;
    Ok(ending.left("probe").await?.is_some())
}

/// Rounds a duration up to a whole millisecond, as a store may do. A store may not shorten a duration (V-6).
fn to_a_whole_millisecond(duration: Duration) -> Duration {
    MILLI * u32::try_from(duration.as_micros().div_ceil(1_000)).unwrap_or(u32::MAX)
}

async fn ensure_ends_to_the_microsecond(world: &World, ending: &dyn Ending) -> Verdict {
    for (number, lasts) in ODD.into_iter().enumerate() {
        let name = format!("still-{number}");
        ending.begin(&name, lasts).await?;
        world.pass(lasts - MICRO).await;
        let left = ending.left(&name).await?;
        ensure!(left.is_some(), "a lifetime of {lasts:?} has ended 1 µs before its end");
        if let Some(Some(left)) = left {
            ensure!(left > Duration::ZERO && left <= MILLI, "{left:?} are left of {lasts:?} 1 µs before its end");
        }
        world.pass(to_a_whole_millisecond(lasts) - (lasts - MICRO)).await;
        ensure!(ending.left(&name).await?.is_none(), "a lifetime of {lasts:?} has not ended at its end");
    }
    ending.begin("longest", MAX_DURATION).await?;
    world.pass(MAX_DURATION - MINUTE).await;
    ensure!(ending.left("longest").await?.is_some(), "a lifetime of {MAX_DURATION:?} has ended a minute early");
    Ok(())
}

/// Checks that a lifetime that is not a whole number of seconds ends on time and not early.
async fn ensure_ends_between_seconds(world: &World, ending: &dyn Ending) -> Verdict {
    let lasts = MILLI * 1_100;
    ending.begin("brief", lasts).await?;
    world.pass(lasts).await;
    ensure!(ending.left("brief").await?.is_none(), "a lifetime of {lasts:?} has not ended at its end");
    // An end that is rounded down to a whole second is too early for most of these.
    for tenths in [11, 13, 15, 17, 19] {
        ensure_lives_until(world, ending, MILLI * 100 * tenths).await?;
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "how much time has passed for real")]
async fn ensure_lives_until(world: &World, ending: &dyn Ending, lasts: Duration) -> Verdict {
    for number in 0..ATTEMPTS {
        let (name, begun) = (format!("odd-{lasts:?}-{number}"), Instant::now());
        ending.begin(&name, lasts).await?;
        world.pass(lasts - MARGIN).await;
        let lives = ending.left(&name).await?.is_some();
        let passed = begun.elapsed() + if world.can_travel() { lasts - MARGIN } else { Duration::ZERO };
        ensure!(lives || passed >= lasts, "a lifetime of {lasts:?} has ended after {passed:?}");
        if lives {
            return Ok(());
        }
    }
    Err(Failure::too_late(ATTEMPTS, MARGIN))
}

/// Makes the calls that come before the end of an entry that lasts this long, from its creation on. A failure of calls
/// that took longer on a real clock says nothing about the backend.
#[allow(clippy::disallowed_methods, reason = "how much time has passed for real")]
pub(crate) async fn before_its_end<T>(
    world: &World,
    lasts: Duration,
    calls: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let begun = Instant::now();
    let made = calls.await;
    let took = begun.elapsed();
    let is_late = made.is_err() && !world.can_travel() && took >= lasts;
    if is_late { Err(Failure::too_slow(took, lasts)) } else { made }
}

/// Checks the remaining time of an entry 20 minutes after its creation.
async fn ensure_left(world: &World, ending: &dyn Ending) -> Verdict {
    ending.begin("long", MINUTE * 60).await?;
    world.pass(MINUTE * 20).await;
    let left =
        ending.left("long").await?.ok_or_else(|| Failure::new("a lifetime of an hour has ended after 20 minutes"))?;
    if let Some(left) = left {
        // The check may take up to 10 minutes.
        let expected = MINUTE * 30..=MINUTE * 40;
        ensure!(expected.contains(&left), "{left:?} are left of an hour after 20 minutes");
    }
    Ok(())
}
