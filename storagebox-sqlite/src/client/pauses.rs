//! Pauses between two attempts to get at the file.

use std::time::Duration;

use fastrand::Rng;

/// Short pauses that do not grow: the caller that waits longest has the same chance as the newest one, and no caller
/// starves, as it would if its pauses doubled.
const BOUNDS: (u64, u64) = (500, 2_500);

/// So many pauses outlast the making of a file.
const FEW: u32 = 20;

/// The pauses of one call.
#[derive(Debug)]
pub(crate) struct Pauses {
    random: Rng,
    made: u32,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self { random: Rng::new(), made: 0 }
    }

    /// Whether only a few were made.
    pub(crate) fn are_few(&self) -> bool {
        self.made < FEW
    }

    #[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
    pub(crate) async fn wait(&mut self) {
        let (shortest, longest) = BOUNDS;
        self.made += 1;
        tokio::time::sleep(Duration::from_micros(self.random.u64(shortest..=longest))).await;
    }
}
