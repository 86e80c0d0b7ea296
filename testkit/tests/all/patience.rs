//! Waits for a condition.

use std::thread;
use std::time::{Duration, Instant};

/// Waits until the condition is met. Panics after a time limit.
pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(300), "waited for in vain");
        thread::sleep(Duration::from_millis(10));
    }
}
