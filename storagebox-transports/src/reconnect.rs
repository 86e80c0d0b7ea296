//! Pauses between attempts to reach a broker.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(10);

/// The pauses between attempts to reach a broker: none after a success, and a longer pause after each further failure.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    failures: u32,
}

impl Pauses {
    /// Waits for the pause before the next attempt.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future only ends the wait.
    pub(crate) async fn wait(&self) {
        if let Some(pause) = self.pause() {
            sleep(pause).await;
        }
    }

    /// Records whether the last attempt succeeded.
    pub(crate) fn note<T, E>(&mut self, outcome: &Result<T, E>) {
        self.failures = if outcome.is_ok() { 0 } else { self.failures.saturating_add(1) };
    }

    fn pause(&self) -> Option<Duration> {
        let doublings = self.failures.checked_sub(1)?.min(16);
        Some(FIRST.saturating_mul(1 << doublings).min(LONGEST))
    }
}

#[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
async fn sleep(pause: Duration) {
    tokio::time::sleep(pause).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_start_over_after_a_success() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.pause(), None);
        let mut fail = || {
            pauses.note(&Err::<(), _>(()));
            pauses.pause().unwrap()
        };
        let grown: Vec<_> = (0..40).map(|_| fail()).collect();
        assert_eq!((grown[0], grown[1], grown[39]), (FIRST, 2 * FIRST, LONGEST));
        assert!(grown.is_sorted());
        pauses.note(&Ok::<_, ()>(()));
        assert_eq!(pauses.pause(), None);
    }
}
