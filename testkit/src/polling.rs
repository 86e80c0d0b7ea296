//! Waiting for a condition.

use std::thread;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(10);

/// The time after which a condition counts as never met, even on the busiest machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// Calls `ask` repeatedly until it returns an answer. Returns `None` when the time limit is reached.
pub(crate) fn poll<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let answer = ask();
        if answer.is_some() || start.elapsed() > limit {
            return answer;
        }
        thread::sleep(LOOK);
    }
}
