//! What is remembered for a time is remembered for at least that time.

use std::time::{Duration, Instant};

use storagebox_core::{MAX_DURATION, Retention, async_trait};

use crate::failure::{Failure, Verdict, ensure};
use crate::world::World;

/// Something that a call ends, and whose end is remembered for a time.
#[async_trait]
pub(crate) trait Lasting: Sync {
    /// Ends the instance with this name.
    async fn end(&self, name: &str) -> Verdict;

    /// Returns whether the end of the instance is remembered.
    async fn is_known(&self, name: &str) -> Result<bool, Failure>;
}

/// How long the end is remembered.
pub(crate) const MEMORY: Duration = match Retention::DEFAULT {
    Retention::For(memory) => memory,
    Retention::Forever => MAX_DURATION,
};

/// How long before the end of its time the memory is checked.
const BEFORE: Duration = Duration::from_millis(250);

/// The time between two rounds. Several rounds do not add up to a whole second, so a store that truncates times to
/// whole seconds is noticed.
const PHASE: Duration = Duration::from_millis(350);

/// How often a check is repeated if its time has passed because the machine was busy.
const ATTEMPTS: usize = 20;

/// Checks three times, each time at another phase of the clock; before the last check, upkeep runs.
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
        ensure!(is_known || passed >= lasts, "what is remembered for {lasts:?} is forgotten after {passed:?}");
        if is_known {
            break;
        }
    }
    Ok(())
}
