//! One caller at a time does work that spares the other callers the same work.
//!
//! The work runs in its caller's future. The caller may stop polling this future for any time, for example in a
//! `select!` that borrows it. So a flight only saves requests, and no promise depends on it: no caller waits longer
//! than [`STALLED_AFTER`] for a flight that does not end.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};
use tokio::time::timeout;

/// The longest time that callers wait for a new flight to begin.
const STALLED_AFTER: Duration = Duration::from_millis(250);

/// Lets one caller at a time do work whose result the waiting callers can use.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight(Mutex<Arc<Line>>);

/// A queue of callers, of which the first has the flight.
#[derive(Debug, Default)]
struct Line {
    queue: Arc<Queue<()>>,
    begun: AtomicU64,
}

/// The right of one caller to do the work of a [`SingleFlight`]. Dropping this value ends the flight.
#[derive(Debug)]
pub(crate) struct Flight {
    _guard: OwnedMutexGuard<()>,
}

impl SingleFlight {
    /// Waits until the earlier flights have ended or stalled ([`STALLED_AFTER`]), and begins the next flight.
    pub(crate) async fn next(&self) -> Flight {
        loop {
            let line = Arc::clone(&self.line());
            if let Some(flight) = line.next().await {
                return flight;
            }
            self.leave(&line);
        }
    }

    fn leave(&self, left: &Arc<Line>) {
        let mut line = self.line();
        if Arc::ptr_eq(&line, left) {
            *line = Arc::default();
        }
    }

    fn line(&self) -> MutexGuard<'_, Arc<Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    fn of(guard: OwnedMutexGuard<()>) -> Self {
        Self { _guard: guard }
    }
}

impl Line {
    /// Waits for the caller's flight. Returns `None` if no flight begins within [`STALLED_AFTER`].
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

    /// A waiting future that is not polled delays the later callers in the queue only for a short time.
    #[tokio::test]
    async fn an_unpolled_waiting_caller_blocks_no_other_caller() {
        let flights = SingleFlight::default();
        let first = flights.next().await;
        let mut unpolled = pin!(flights.next());
        assert!(still_waits(unpolled.as_mut()).await);
        drop(first);
        flights.next().await;
    }
}
