//! Pauses between two attempts to get at the file.

use std::time::Duration;

use fastrand::Rng;

/// Short ones, and never longer: whoever waits longest has the same chance as who came last, and nobody starves, as one
/// does who waits twice as long each time.
const BOUNDS: (u64, u64) = (500, 2_500);

/// The pauses of one call.
#[derive(Debug)]
pub(crate) struct Pauses(Rng);

impl Pauses {
    pub(crate) fn new() -> Self {
        Self(Rng::new())
    }

    #[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
    pub(crate) async fn wait(&mut self) {
        let (shortest, longest) = BOUNDS;
        tokio::time::sleep(Duration::from_micros(self.0.u64(shortest..=longest))).await;
    }
}
