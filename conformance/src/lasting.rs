//! Ends that are remembered for a time are remembered for at least that time.

use std::time::{Duration, Instant};

use storagebox_core::{MAX_DURATION, Retention, async_trait};

use crate::failure::{Failure, Verdict, ensure};
use crate::world::World;

/// A kind of entry, such as a token, whose end the store remembers for a time.
#[async_trait]
pub(crate) trait Lasting: Sync {
    /// Creates the entry with this name and ends it.
    async fn end(&self, name: &str) -> Verdict;

    /// Returns whether the store remembers the end of the entry.
    async fn is_known(&self, name: &str) -> Result<bool, Failure>;
}

/// How long a store remembers ended entries by default.
pub(crate) const MEMORY: Duration = match Retention::DEFAULT {
    Retention::For(memory) => memory,
    Retention::Forever => MAX_DURATION,
};

/// The time from a check to the first moment at which the store may forget the end of the entry.
const BEFORE: Duration = Duration::from_millis(250);

/// The pause before each check of [`ensure_lasts`]. A store that truncates times to whole seconds fails after one of
/// the pauses.
const PHASE: Duration = Duration::from_millis(350);

/// The limit on the attempts of a check, which is repeated if the machine reads too late.
const ATTEMPTS: usize = 20;

/// Checks that the store remembers the end of an entry for the duration `lasts`, even if upkeep runs. Each of the three
/// checks begins at another fraction of a second.
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
            return Ok(());
        }
    }
    Err(Failure::too_late(ATTEMPTS, BEFORE))
}
