//! What is remembered for a time is remembered to its end, or for longer.

use std::time::{Duration, Instant};

use storagebox_core::{MAX_DURATION, Retention, async_trait};

use crate::failure::{Failure, Verdict, ensure};
use crate::world::World;

/// Something that a call ends, and that is remembered for a time from then on.
#[async_trait]
pub(crate) trait Lasting: Sync {
    /// Ends one of this name.
    async fn end(&self, name: &str) -> Verdict;

    /// Whether its end is remembered.
    async fn is_known(&self, name: &str) -> Result<bool, Failure>;
}

/// How long what has ended is remembered.
pub(crate) const MEMORY: Duration = match Retention::DEFAULT {
    Retention::For(memory) => memory,
    Retention::Forever => MAX_DURATION,
};

/// How long before the end it is asked for.
const BEFORE: Duration = Duration::from_millis(250);

/// Several of these are no whole second, so that no time is cut to whole seconds unnoticed.
const PHASE: Duration = Duration::from_millis(350);

/// How often a check is repeated whose time ended while the machine was busy.
const ATTEMPTS: usize = 20;

/// The last time upkeep has run.
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
