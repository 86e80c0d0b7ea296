//! The attempts of a call whose operation a store remembers for a while only.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::backend::repeat::open;
use crate::error::{Certainty, Result};
use crate::race::{First, first_of};
use crate::settles::Settles;

/// The attempts of one call. Once one was lost, no other may reach the store after its operation may be forgotten,
/// because the store would apply the operation again.
///
/// An attempt begins within half of the time for which the operation is remembered, so that it has the other half to
/// arrive, and is dropped at the end of that time.
#[derive(Debug)]
pub struct Attempts<S> {
    remembered: Option<Duration>,
    since_first: S,
    any_lost: AtomicBool,
}

impl<S: Fn() -> Duration + Sync> Attempts<S> {
    /// Creates the attempts of a call whose operation is remembered for this long; `None` and [`Duration::MAX`] set no
    /// limit. `since_first` returns the time since before the first attempt.
    pub fn new(remembered: Option<Duration>, since_first: S) -> Self {
        let remembered = remembered.filter(|time| *time < Duration::MAX);
        Self { remembered, since_first, any_lost: AtomicBool::new(false) }
    }

    /// Sets whether an attempt was lost before these.
    #[must_use]
    pub fn after_lost(self, is_lost: bool) -> Self {
        Self { any_lost: AtomicBool::new(is_lost), ..self }
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
    /// [retryable](crate::Error::is_retryable), in place of an error or an outcome that asks for one more attempt.
    pub async fn make<T, W>(
        &self,
        sleep: impl FnOnce(Duration) -> W + Send,
        attempt: impl Future<Output = Result<T>> + Send,
    ) -> Result<T>
    where
        T: Settles + Send,
        W: Future<Output = ()> + Send,
    {
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

    /// If there may be no next attempt, only an answer that needs none.
    fn while_remembered<T: Settles>(&self, answer: Result<T>) -> Result<T> {
        let Err(forgotten) = self.check_remembered() else { return answer };
        match answer {
            Ok(answer) if answer.settles() => Ok(answer),
            Ok(_) => Err(forgotten),
            Err(error) => Err(error.after_unresolved().unrepeatable()),
        }
    }

    /// Whether a next attempt may begin. The pause before it counts too, so this is asked on both sides of the pause.
    fn check_remembered(&self) -> Result<()> {
        match self.remembered_for().zip(self.remembered) {
            Some((left, remembered)) if left <= remembered / 2 => Err(open().unrepeatable()),
            _ => Ok(()),
        }
    }

    /// For how much longer the operation of a lost attempt is remembered; `None` if none was lost, or there is no
    /// limit.
    fn remembered_for(&self) -> Option<Duration> {
        let remembered = self.remembered.filter(|_| self.any_lost.load(Ordering::Relaxed));
        remembered.map(|remembered| remembered.saturating_sub((self.since_first)()))
    }
}
