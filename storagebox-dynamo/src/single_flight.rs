//! One caller at a time does work that spares the other callers the same work.
//!
//! The work runs in its caller's future. A program may stop polling the future for any time, for example in a `select!`
//! that borrows it. So a flight only saves requests, and nothing depends on it: no caller waits longer than
//! [`STALLED_AFTER`] for a flight that does not end.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};
use tokio::time::timeout;

use crate::lock::lock;

/// How long callers wait if no flight ends.
const STALLED_AFTER: Duration = Duration::from_millis(250);

/// Lets one caller at a time begin a flight. The other callers wait in a queue.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight(Mutex<Arc<Line>>);

/// A queue of callers, one of whom has the flight.
#[derive(Debug, Default)]
struct Line {
    queue: Arc<Queue<()>>,
    begun: AtomicU64,
}

/// A flight, which ends when this value is dropped. Callers may stop waiting for the end earlier.
#[derive(Debug)]
pub(crate) struct Flight {
    _guard: OwnedMutexGuard<()>,
}

impl SingleFlight {
    /// Waits for the earlier flights and begins the next flight. If no flight ends for [`STALLED_AFTER`], the waiting
    /// callers and all later callers continue in a new queue.
    pub(crate) async fn next(&self) -> Flight {
        loop {
            let line = Arc::clone(&self.line());
            if let Some(flight) = line.next().await {
                return flight;
            }
            self.leave(&line);
        }
    }

    /// Begins a flight; `None` if another flight has not ended.
    pub(crate) fn now(&self) -> Option<Flight> {
        Arc::clone(&self.line().queue).try_lock_owned().ok().map(Flight::of)
    }

    fn leave(&self, left: &Arc<Line>) {
        let mut line = self.line();
        if Arc::ptr_eq(&line, left) {
            *line = Arc::default();
        }
    }

    fn line(&self) -> MutexGuard<'_, Arc<Line>> {
        lock(&self.0)
    }
}

impl Flight {
    fn of(guard: OwnedMutexGuard<()>) -> Self {
        Self { _guard: guard }
    }
}

impl Line {
    /// Waits for the next flight. Returns `None` if no flight begins for [`STALLED_AFTER`].
    async fn next(&self) -> Option<Flight> {
        let mut guard = pin!(Arc::clone(&self.queue).lock_owned());
        loop {
            let before = self.begun.load(Ordering::Relaxed);
            if let Ok(guard) = timeout(STALLED_AFTER, &mut guard).await {
                self.begun.fetch_add(1, Ordering::Relaxed);
                return Some(Flight::of(guard));
            }
            if self.begun.load(Ordering::Relaxed) == before {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::pin::Pin;

    use super::*;

    /// Polls the future once, and returns whether the future is still waiting.
    async fn still_waits(next: Pin<&mut impl Future<Output = Flight>>) -> bool {
        tokio::select! {
            biased;
            _ = next => false,
            () = ready(()) => true,
        }
    }

    #[tokio::test]
    async fn one_flight_runs_at_a_time() {
        let flights = SingleFlight::default();
        let first = flights.next().await;
        assert!(still_waits(pin!(flights.next())).await);
        assert!(flights.now().is_none());
        drop(first);
        assert!(!still_waits(pin!(flights.next())).await);
    }

    #[tokio::test]
    async fn a_stalled_flight_delays_callers_only_once() {
        let flights = SingleFlight::default();
        let _stalled = flights.next().await;
        let second = flights.next().await;
        assert!(still_waits(pin!(flights.next())).await, "two flights at once");
        drop(second);
        assert!(!still_waits(pin!(flights.next())).await, "the stalled flight was waited for again");
    }

    /// The queue gives the flight to a future that is not polled.
    #[tokio::test]
    async fn a_waiting_caller_that_is_not_polled_blocks_no_other_caller() {
        let flights = SingleFlight::default();
        let first = flights.next().await;
        let mut unpolled = pin!(flights.next());
        assert!(still_waits(unpolled.as_mut()).await);
        drop(first);
        flights.next().await;
    }
}
