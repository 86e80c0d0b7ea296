//! The retry loop, shared by handles, runs and backends. The caller supplies the operation id, so every attempt is the
//! same operation.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use super::race::let_others_on;
use crate::contract::settles::Settles;
use crate::values::error::{Certainty, Error, Result};
use crate::values::time::Timer;

/// How often and how long a call is retried.
///
/// # Guarantees
///
/// - ER-4: the certainty of the whole call is the certainty of its least certain attempt. Once an attempt is
///   unresolved, an outcome that does not [settle](Settles) it is not returned; the call returns `OutcomeUnknown`
///   instead.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use storagebox::time::TokioTimer;
/// use storagebox::{Retry, Store, Taken};
///
/// // A handle retries its calls by itself: `Store::with_retry` sets how.
/// let store = Store::open("memory:").await?.with_retry(Retry { attempts: 10, ..Retry::default() });
/// assert_eq!(store.bank("vouchers")?.assign("ada@example.com").await?, Taken::Empty);
///
/// // `call` retries for a handle, or another implementation, that does not.
/// let bank = store.without_retry().bank("vouchers")?;
/// let taken = Retry::default().call(&TokioTimer, || bank.assign("ada@example.com")).await?;
/// assert_eq!(taken, Taken::Empty);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The maximum number of attempts, including the first.
    pub attempts: usize,
    /// The wait before the second attempt. It doubles for each further attempt, with jitter. Zero stays zero.
    pub first_delay: Duration,
    /// The longest wait between two attempts.
    pub max_delay: Duration,
}

impl Default for Retry {
    /// Six attempts, 20 ms to 1 s apart.
    fn default() -> Self {
        Self { attempts: 6, first_delay: Duration::from_millis(20), max_delay: Duration::from_secs(1) }
    }
}

impl Retry {
    /// A single attempt.
    pub const NEVER: Self = Self { attempts: 1, first_delay: Duration::ZERO, max_delay: Duration::ZERO };

    /// Makes the call until it is answered, for as long as its errors are retryable.
    ///
    /// # Guarantees
    ///
    /// - ER-4 above. The closure must make the same operation each time, with the same id.
    ///
    /// # Cancel safety
    ///
    /// The same as for the call: make it again with the same id.
    ///
    /// # Errors
    ///
    /// The error of the last attempt, marked as unresolved if any attempt was unresolved.
    pub async fn call<T, Fut>(&self, timer: &dyn Timer, call: impl FnMut() -> Fut) -> Result<T>
    where
        T: Settles,
        Fut: Future<Output = Result<T>>,
    {
        repeat(Delays(self.delays()), |delay| timer.sleep(delay), call).await
    }

    /// The same as `call`, but until `end`, with any number of attempts. If the delays are zero, the attempts without a
    /// pause are followed by attempts with the default pauses.
    pub(crate) async fn call_until<T, Fut>(
        &self,
        timer: &dyn Timer,
        end: Duration,
        call: impl FnMut() -> Fut,
    ) -> Result<T>
    where
        T: Settles,
        Fut: Future<Output = Result<T>>,
    {
        // A delay of zero stays zero when it doubles.
        let never_waits = self.first_delay.is_zero() || self.max_delay.is_zero();
        let (at_once, paced) = if never_waits { (self.attempts, Self::default()) } else { (1, *self) };
        let at_once = Self { attempts: at_once, ..Self::NEVER }.delays();
        let delays = at_once.chain(Self { attempts: usize::MAX, ..paced }.delays()).map_while(|delay| {
            let left = end.saturating_sub(timer.now());
            (!left.is_zero()).then(|| delay.min(left))
        });
        repeat(Delays(delays), |delay| timer.sleep(delay), call).await
    }

    /// Returns the delays between the attempts. The jitter is added to a delay, so the maximum is enforced after it.
    fn delays(&self) -> impl Iterator<Item = Duration> + use<> {
        let max_delay = self.max_delay;
        ExponentialBuilder::default()
            .with_min_delay(self.first_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.attempts.saturating_sub(1))
            .with_jitter()
            .build()
            .map(move |delay| delay.min(max_delay))
    }
}

/// Delays between attempts, for as long as the errors are retryable.
struct Delays<I>(I);

impl<I: Iterator<Item = Duration> + Send> Backoff for Delays<I> {
    fn after(&mut self, setback: Setback<'_>) -> Option<Duration> {
        let delay = self.0.next();
        delay.filter(|_| match setback {
            Setback::Failed(error) => error.is_retryable(),
            Setback::Open => true,
        })
    }
}

/// Why an attempt does not answer its call.
#[derive(Clone, Copy, Debug)]
pub enum Setback<'a> {
    /// The attempt failed.
    Failed(&'a Error),
    /// The attempt was answered, but an earlier attempt whose answer was lost may still take effect.
    Open,
}

/// How often a call is retried, and after which pauses.
pub trait Backoff: Send {
    /// Returns the pause before the next attempt, or `None` if there is no next attempt. A pause of zero retries at
    /// once.
    fn after(&mut self, setback: Setback<'_>) -> Option<Duration>;

    /// Returns whether the call was already made before the first attempt, without success and with an unknown outcome.
    fn begins_unresolved(&self) -> bool {
        false
    }
}

/// Returns growing pauses for a call that meets contention, each with up to as much again at random: about five seconds
/// in all.
pub fn pauses() -> impl Iterator<Item = Duration> + Send + use<> {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(1))
        .with_max_delay(Duration::from_millis(70))
        .with_max_times(50)
        .with_jitter()
        .build()
}

/// Makes a call until an attempt answers it, as long as the backoff allows.
///
/// # Guarantees
///
/// - ER-4: the certainty of the whole call is the certainty of its least certain attempt. An outcome that does not
///   [settle](Settles) an earlier attempt is not returned. The closure must make the same operation each time, with the
///   same id.
///
/// # Cancel safety
///
/// The same as for the call: make it again with the same id.
///
/// # Errors
///
/// The error of the last attempt, marked as unresolved if any attempt was unresolved.
pub async fn repeat<T, F, P>(
    mut backoff: impl Backoff,
    mut pause: impl FnMut(Duration) -> P,
    mut attempt: impl FnMut() -> F,
) -> Result<T>
where
    T: Settles,
    F: Future<Output = Result<T>>,
    P: Future<Output = ()>,
{
    let mut is_unresolved = backoff.begins_unresolved();
    loop {
        let (next, error) = match attempt().await {
            Ok(answer) if is_unresolved && !answer.settles() => (backoff.after(Setback::Open), open()),
            Ok(answer) => return Ok(answer),
            Err(error) => (backoff.after(Setback::Failed(&error)), error),
        };
        is_unresolved |= error.certainty() == Certainty::Unknown;
        match next {
            // Yields, so that a deadline around the call can end it.
            Some(delay) if delay.is_zero() => let_others_on().await,
            Some(delay) => pause(delay).await,
            None if is_unresolved => return Err(error.after_unresolved()),
            None => return Err(error),
        }
    }
}

/// Returns the error for an answer that does not settle an earlier attempt.
pub(crate) fn open() -> Error {
    Error::unknown("the answer of an earlier attempt was lost, and that attempt may still take effect")
}
