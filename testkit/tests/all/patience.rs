//! Waiting for what will come.

use std::thread;
use std::time::{Duration, Instant};

/// A test that waits in vain fails in the end.
pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(300), "waited for in vain");
        thread::sleep(Duration::from_millis(10));
    }
}
