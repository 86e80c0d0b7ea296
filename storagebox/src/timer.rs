//! tokio's clock as a [`Timer`].

use std::sync::LazyLock;
use std::time::Duration;

use storagebox_core::{Timer, async_trait};
use tokio::time::{self, Instant};

/// Waits on tokio's clock, paused time included. Needs a tokio runtime with time enabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

/// The zero of the timer: a day before the timer's first use, or the first use if the machine's clock cannot go back a
/// day.
#[allow(clippy::disallowed_methods, reason = "the one place where callers' waiting meets a real clock")]
// The clock of a paused runtime stands still and so falls behind the machine's clock, but not by a day.
static START: LazyLock<Instant> = LazyLock::new(|| {
    let now = std::time::Instant::now();
    Instant::from_std(now.checked_sub(A_DAY).unwrap_or(now))
});

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[async_trait]
#[allow(clippy::disallowed_methods, reason = "the one place where callers' waiting meets a real clock")]
impl Timer for TokioTimer {
    fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(*START)
    }

    async fn sleep(&self, duration: Duration) {
        time::sleep(duration).await;
    }
}
