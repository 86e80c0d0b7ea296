//! The counts of events in this process.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox::async_trait;
use storagebox::time::{Timer, TokioTimer};

/// A function that returns the number of allocations so far in this process. The program with the counting allocator
/// supplies the function.
pub type Allocations = fn() -> u64;

/// The counts per call of one row.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The row's name.
    pub name: String,
    /// The counts per call of the library.
    pub ours: Counts,
    /// The counts per call of the compared program.
    pub floor: Counts,
}

/// The costs of one call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// The processor instructions outside the kernel, or `None` if valgrind is missing or was not used.
    pub instructions: Option<f64>,
    /// The memory allocations and reallocations.
    pub allocations: f64,
    /// The system calls, or `None` if strace is missing or may not trace this process.
    pub system_calls: Option<f64>,
    /// The number of times that a thread of the process waited and was woken, or `None` if the system does not report
    /// it.
    pub wake_ups: Option<f64>,
    /// The timers of the handle: deadlines and pauses.
    pub timers: f64,
}

/// The number of timers that handles have started.
static TIMERS: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedTimer;

#[async_trait]
impl Timer for CountedTimer {
    fn now(&self) -> Duration {
        TokioTimer.now()
    }

    async fn sleep(&self, duration: Duration) {
        TIMERS.fetch_add(1, Ordering::Relaxed);
        TokioTimer.sleep(duration).await;
    }
}

pub(crate) struct Tally {
    allocations: u64,
    switches: Option<u64>,
    timers: u64,
}

impl Tally {
    pub(crate) fn now(allocations: Allocations) -> Self {
        let (switches, timers) = (switches(), TIMERS.load(Ordering::Relaxed));
        // The allocations are read last, because reading the other counts allocates too.
        Self { allocations: allocations(), switches, timers }
    }

    pub(crate) fn until_now(self, allocations: Allocations, calls: usize) -> Counts {
        let made = allocations();
        let a_call = |after: u64, before: u64| after.saturating_sub(before) as f64 / calls as f64;
        Counts {
            allocations: a_call(made, self.allocations),
            wake_ups: switches().zip(self.switches).map(|(after, before)| a_call(after, before)),
            timers: a_call(TIMERS.load(Ordering::Relaxed), self.timers),
            ..Counts::default()
        }
    }
}

/// Returns how often the threads of this process have waited, without the threads that have ended.
fn switches() -> Option<u64> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    threads
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("status")).ok())
        .map(|own| voluntary(&own))
        .sum()
}

fn voluntary(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_of_a_thread_is_counted_as_a_wake_up() {
        assert_eq!(voluntary("Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n"), Some(12));
        assert_eq!(voluntary("Name:\tx\n"), None);
        // The test reads this thread alone, because the threads of concurrent tests begin and end.
        let own = || voluntary(&fs::read_to_string("/proc/thread-self/status").unwrap()).unwrap();
        let before = own();
        std::thread::sleep(Duration::from_millis(1));
        assert!(own() > before);
        assert!(switches().is_some());
    }

    #[test]
    fn a_sleep_is_counted_as_one_timer() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let before = Tally::now(|| 0);
        runtime.block_on(CountedTimer.sleep(Duration::ZERO));
        assert!((before.until_now(|| 2, 1).timers - 1.0).abs() < f64::EPSILON);
    }
}
