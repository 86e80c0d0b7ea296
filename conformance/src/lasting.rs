//! Ends that are remembered for a time are remembered for at least that time.

use std::time::{Duration, Instant};

use storagebox_core::{MAX_DURATION, Retention, async_trait};

use crate::failure::{Failure, Verdict, ensure};
use crate::world::World;

/// A kind of entry that a call ends, and whose end the store remembers for a time.
#[async_trait]
pub(crate) trait Lasting: Sync {
    /// Creates the entry with this name and ends it.
    async fn end(&self, name: &str) -> Verdict;

    /// Returns whether the store remembers the end of the entry.
    async fn is_known(&self, name: &str) -> Result<bool, Failure>;
}

/// How long a store remembers an end by default.
pub(crate) const MEMORY: Duration = match Retention::DEFAULT {
    Retention::For(memory) => memory,
    Retention::Forever => MAX_DURATION,
};

/// A check reads this long before the store may forget an end.
const BEFORE: Duration = Duration::from_millis(250);

/// The pause between two rounds of checks. Several pauses do not add up to a whole second, so a store that truncates
/// times to whole seconds fails a round.
const PHASE: Duration = Duration::from_millis(350);

/// The most attempts at a check before the machine is too busy to read in time.
const ATTEMPTS: usize = 20;

/// Checks three times that the store remembers an end for this long, each time at another fraction of a second. Upkeep
/// runs before the last check.
pub(crate) async fn ensure_lasts(world: &World, lasting: &dyn Lasting, lasts: Duration) -> Verdict {
    for (turn, upkeep) in ["first", "second", "third"].into_iter().zip([false, false, true]) {
        world.pass(PHASE).await;
        ensure_lasts_once(world, lasting, lasts, (turn, upkeep)).await?;
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "how much time has passed for real")]
async fn ensure_lasts_once(
    world: &World,
    lasting: &dyn Lasting,
    lasts: Duration,
    (turn, upkeep): (&str, bool),
) -> Verdict {
    for number in 0..ATTEMPTS {
        let (name, begun) = (format!("{turn}-{number}"), Instant::now());
        lasting.end(&name).await?;
        world.pass(lasts - BEFORE).await;
        if upkeep {
            world.upkeep().await?;
        }
        let is_known = lasting.is_known(&name).await?;
        let passed = lasts - BEFORE + begun.elapsed();
        ensure!(is_known || passed >= lasts, "an end that is remembered for {lasts:?} was forgotten after {passed:?}");
        if is_known {
            break;
        }
    }
    Ok(())
}
