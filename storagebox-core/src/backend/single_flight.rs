//! One caller at a time does work that spares the other callers the same work.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_channel::oneshot::{self, Receiver, Sender};

use super::in_time;

/// How long callers wait if no flight ends.
const STALLED_AFTER: Duration = Duration::from_millis(250);

/// Lets one caller at a time do work whose result the waiting callers can use. The other callers wait in a queue.
///
/// # Guarantees
///
/// - The work runs in its caller's future. A program may stop polling this future for any time, for example in a
///   `select!` that borrows it. So a flight only saves requests, and no promise may depend on it: if no flight ends for
///   250 ms, the waiting callers and all later callers continue in a new queue.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use storagebox_core::backend::SingleFlight;
///
/// let flights = SingleFlight::default();
/// let flight = flights.next().await;
/// assert!(flights.now().is_none());
/// drop(flight);
/// assert!(flights.now().is_some());
/// # }
/// ```
#[derive(Debug, Default)]
pub struct SingleFlight(Mutex<Arc<Line>>);

/// The right of one caller to do the work of a [`SingleFlight`]. The flight ends when this value is dropped.
#[derive(Debug)]
#[must_use]
pub struct Flight(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    queue: Mutex<Queue>,
    /// The number of flights that began with [`SingleFlight::next`].
    begun: AtomicU64,
}

/// A queue of callers. It is empty while no caller has the flight.
#[derive(Debug, Default)]
struct Queue {
    is_busy: bool,
    waiting: VecDeque<Sender<Flight>>,
}

impl SingleFlight {
    /// Waits for the earlier flights and begins the next flight.
    ///
    /// # Cancel safety
    ///
    /// A dropped caller leaves the queue.
    pub async fn next(&self) -> Flight {
        loop {
            let line = Arc::clone(&lock(&self.0));
            if let Some(flight) = line.next().await {
                return flight;
            }
            self.leave(&line);
        }
    }

    /// Begins a flight; `None` if another flight has not ended.
    pub fn now(&self) -> Option<Flight> {
        let line = Arc::clone(&lock(&self.0));
        let is_busy = std::mem::replace(&mut lock(&line.queue).is_busy, true);
        (!is_busy).then(|| Flight(line))
    }

    fn leave(&self, left: &Arc<Line>) {
        let mut line = lock(&self.0);
        if Arc::ptr_eq(&line, left) {
            *line = Arc::default();
        }
    }
}

impl Line {
    /// Waits for the next flight. Returns `None` if no flight begins for [`STALLED_AFTER`].
    async fn next(self: &Arc<Self>) -> Option<Flight> {
        let mut flight = self.enter();
        loop {
            let before = self.begun.load(Ordering::Relaxed);
            if let Some(Ok(flight)) = in_time(STALLED_AFTER, &mut flight).await {
                self.begun.fetch_add(1, Ordering::Relaxed);
                return Some(flight);
            }
            if self.begun.load(Ordering::Relaxed) == before {
                return None;
            }
        }
    }

    fn enter(self: &Arc<Self>) -> Receiver<Flight> {
        let (sender, flight) = oneshot::channel();
        let mut queue = lock(&self.queue);
        queue.skip_dropped();
        queue.waiting.push_back(sender);
        if !queue.is_busy {
            self.begin(queue);
        }
        flight
    }

    /// Gives the flight to the first caller in the queue.
    fn begin(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>) {
        queue.skip_dropped();
        let first = queue.waiting.pop_front();
        queue.is_busy = first.is_some();
        drop(queue);
        if let Some(first) = first {
            // If the caller has been dropped meanwhile, the flight comes back, and its `drop` goes on with the next.
            drop(first.send(Flight(Arc::clone(self))));
        }
    }
}

impl Queue {
    fn skip_dropped(&mut self) {
        while self.waiting.pop_front_if(|first| first.is_canceled()).is_some() {}
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.begin(lock(&self.0.queue));
    }
}

// Nothing panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::pin::{Pin, pin};

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
        drop(flights.next().await);
    }

    #[tokio::test]
    async fn a_caller_that_is_dropped_as_its_flight_begins_ends_the_flight() {
        let flights = SingleFlight::default();
        let first = flights.next().await;
        let mut dropped = Box::pin(flights.next());
        assert!(still_waits(dropped.as_mut()).await);
        drop(first);
        assert!(flights.now().is_none());
        drop(dropped);
        assert!(flights.now().is_some());
    }
}
