//! Pauses between attempts to lock the file.

use std::time::Duration;

use fastrand::Rng;

/// The shortest and the longest pause, in microseconds. The pauses of a call that has waited long are not longer.
const BOUNDS: (u64, u64) = (500, 2_500);

/// The number of pauses that together take longer than another process needs to create a file.
const FEW: u32 = 20;

#[derive(Debug)]
pub(crate) struct Pauses {
    random: Rng,
    made: u32,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self { random: Rng::new(), made: 0 }
    }

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
