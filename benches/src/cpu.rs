//! Processor time of this process, to the nanosecond.

use std::fs;
use std::time::Duration;

/// What the threads that live now have used. `None` where the system does not tell.
pub(crate) fn used() -> Option<Duration> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    threads
        .map(|thread| nanoseconds(&fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?))
        .sum::<Option<u64>>()
        .map(Duration::from_nanos)
}

/// The first field of a thread's `schedstat` is its time on a processor.
fn nanoseconds(schedstat: &str) -> Option<u64> {
    schedstat.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_field_is_time_on_a_processor() {
        assert_eq!(nanoseconds("1234 56 7\n"), Some(1234));
        assert_eq!(nanoseconds(""), None);
    }
}
