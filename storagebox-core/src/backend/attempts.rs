//! The attempts of a call whose operation the store remembers for a limited time.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::backend::race::{First, first_of};
use crate::values::attempt::open;
use crate::values::clock::{Clock, SystemClock};
use crate::values::error::{Certainty, Result};

/// The attempts of one call. Once an attempt was lost, no other attempt may reach the store after the store may have
/// forgotten the operation: the store would apply the operation again.
///
/// An attempt begins within the first half of the time for which the operation is remembered, so that it has the second
/// half to arrive. It is dropped at the end of that time. The time also counts while the machine sleeps.
#[derive(Debug)]
pub struct Attempts<S> {
    remembered: Option<Duration>,
    since_first: S,
    /// A clock that continues while the machine sleeps. The timer of `since_first` may stop then.
    clock: &'static dyn Clock,
    begun: Duration,
    any_lost: AtomicBool,
}

impl<S: Fn() -> Duration + Sync> Attempts<S> {
    /// Creates the attempts of a call whose operation is remembered for this duration; `None` and [`Duration::MAX`] set
    /// no limit. `is_repeated` says whether the caller made the call before, with an unknown outcome. `since_first`
    /// returns the time, by a timer, since a moment before the first attempt.
    pub fn new(is_repeated: bool, remembered: Option<Duration>, since_first: S) -> Self {
        Self::by(&SystemClock, is_repeated, remembered, since_first)
    }

    fn by(clock: &'static dyn Clock, is_repeated: bool, remembered: Option<Duration>, since_first: S) -> Self {
        let remembered = remembered.filter(|time| *time < Duration::MAX);
        let begun = remembered.map_or(Duration::ZERO, |_| clock.now());
        Self { remembered, since_first, clock, begun, any_lost: AtomicBool::new(is_repeated) }
    }

    /// Makes an attempt.
    ///
    /// # Cancel safety
    ///
    /// The same as for the attempt.
    ///
    /// # Errors
    ///
    /// The errors of the attempt. Once the operation of a lost attempt may be forgotten, `OutcomeUnknown`, which is not
    /// [retryable](crate::Error::is_retryable), in place of an error that asks for one more attempt.
    pub async fn make<T, W>(
        &self,
        sleep: impl FnOnce(Duration) -> W + Send,
        attempt: impl Future<Output = Result<T>> + Send,
    ) -> Result<T>
    where
        T: Send,
        W: Future<Output = ()> + Send,
    {
        // The pause since the previous attempt counts too.
        self.check_remembered()?;
        let attempt = pin!(attempt);
        let answer = match self.remembered_for() {
            None => attempt.await,
            Some(left) => match first_of(attempt, async { sleep(left).await }).await {
                First::Left(answer) => answer,
                First::Right(()) => Err(open()),
            },
        };
        let is_lost = answer.as_ref().is_err_and(|error| error.certainty() == Certainty::Unknown);
        self.any_lost.fetch_or(is_lost, Ordering::Relaxed);
        self.while_remembered(answer)
    }

    /// Returns `answer`. Marks an error as not retryable if no further attempt may begin.
    fn while_remembered<T>(&self, answer: Result<T>) -> Result<T> {
        let is_forgotten = self.check_remembered().is_err();
        answer.map_err(|error| if is_forgotten { error.after_unresolved().unrepeatable() } else { error })
    }

    /// Returns an error if no further attempt may begin.
    fn check_remembered(&self) -> Result<()> {
        match self.remembered_for().zip(self.remembered) {
            Some((left, remembered)) if left <= remembered / 2 => Err(open().unrepeatable()),
            _ => Ok(()),
        }
    }

    /// Returns how much longer the store remembers the operation. Returns `None` if no attempt was lost or if there is
    /// no time limit.
    fn remembered_for(&self) -> Option<Duration> {
        let remembered = self.remembered.filter(|_| self.any_lost.load(Ordering::Relaxed));
        remembered.map(|remembered| remembered.saturating_sub(self.since_first()))
    }

    fn since_first(&self) -> Duration {
        (self.since_first)().max(self.clock.now().saturating_sub(self.begun))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Pending, pending, ready};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::values::clock::ManualClock;
    use crate::values::error::{Error, ErrorKind};

    const MINUTE: Duration = Duration::from_secs(60);

    /// Makes an attempt that ends with `outcome` when it is first polled.
    fn made(attempts: &Attempts<impl Fn() -> Duration + Sync>, outcome: Result<u8>) -> Result<u8> {
        let sleep = |_| -> Pending<()> { pending() };
        let attempt = pin!(attempts.make(sleep, ready(outcome)));
        match attempt.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer,
            Poll::Pending => unreachable!("the outcome is there"),
        }
    }

    /// The machine sleeps for an hour: the clock advances and the timer does not.
    #[test]
    fn lost_attempt_is_not_retried_after_a_long_sleep_of_the_machine() {
        let clock: &'static ManualClock = Box::leak(Box::default());
        let attempts = Attempts::by(clock, false, Some(MINUTE), || Duration::ZERO);
        let lost = made(&attempts, Err(Error::unknown("lost"))).err();
        assert!(lost.is_some_and(|error| error.is_retryable()), "the minute has just begun");
        clock.advance(60 * MINUTE);
        let next = made(&attempts, Ok(1)).err();
        assert!(next.is_some_and(|error| error.certainty() == Certainty::Unknown && !error.is_retryable()));
    }

    #[test]
    fn attempt_after_a_long_sleep_is_made_if_no_attempt_was_lost() {
        let clock: &'static ManualClock = Box::leak(Box::default());
        let attempts = Attempts::by(clock, false, Some(MINUTE), || Duration::ZERO);
        clock.advance(60 * MINUTE);
        assert!(made(&attempts, Ok(1)).is_ok());
    }

    #[test]
    fn repeated_call_is_not_retried_after_a_long_sleep_of_the_machine() {
        let clock: &'static ManualClock = Box::leak(Box::default());
        let attempts = Attempts::by(clock, true, Some(MINUTE), || Duration::ZERO);
        let throttled = made(&attempts, Err(Error::new(ErrorKind::Throttled, "too many requests"))).err();
        assert!(throttled.is_some_and(|error| error.is_retryable()), "the minute has just begun");
        clock.advance(60 * MINUTE);
        let next = made(&attempts, Ok(1)).err();
        assert!(next.is_some_and(|error| error.certainty() == Certainty::Unknown && !error.is_retryable()));
    }
}
