//! tokio's clock as a [`Timer`].

use std::sync::LazyLock;
use std::time::Duration;

use storagebox_core::{Timer, async_trait};
use tokio::time::{self, Instant};

/// Waits on tokio's clock, paused time included. Needs a tokio runtime with time enabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

/// By the machine's clock: a paused runtime's own may be ahead of all others.
#[allow(clippy::disallowed_methods, reason = "the one place where callers' waiting meets a real clock")]
static START: LazyLock<Instant> = LazyLock::new(|| Instant::from_std(std::time::Instant::now()));

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
