//! The retry loop, shared by handles, runs and backends. The caller supplies the operation id, so every attempt is the
//! same operation.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use super::race::let_others_on;
use crate::values::attempt::Attempt;
use crate::values::error::{Certainty, Error, Result};
use crate::values::time::Timer;

/// How often and how long a call is retried.
///
/// # Guarantees
///
/// - ER-4: the certainty of the whole call is the certainty of its least certain attempt.
/// - ER-5: an attempt that follows an unresolved one is [repeated](Attempt::is_repeated), so a refusal makes the
///   unresolved one void.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use storagebox::time::TokioTimer;
/// use storagebox::bank::Hold;
/// use storagebox::{Retry, Store, Taken};
///
/// // A handle retries its calls by itself: `Store::with_retry` sets how.
/// let store = Store::open("memory:").await?.with_retry(Retry { attempts: 10, ..Retry::default() });
/// assert_eq!(store.bank("vouchers")?.assign("ada@example.com").await?, Taken::Empty);
///
/// // `call` retries for an implementation that does not. Each attempt belongs to the same call.
/// let (bank, claim) = (store.as_backend().item_bank(&"vouchers".parse()?)?, "ada@example.com".parse()?);
/// let take = |attempt| bank.attempt_take(attempt, &claim, Hold::Forever);
/// assert_eq!(Retry::default().call(&TokioTimer, take).await?, Taken::Empty);
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
    /// Returns a policy of six attempts, with waits of 20 ms to 1 s between them.
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
    /// - ER-4, ER-5 above. The closure must make the same operation each time, with the same id, and pass the attempt
    ///   to a method that takes one.
    ///
    /// # Cancel safety
    ///
    /// The same as for the call: make it again with the same id.
    ///
    /// # Errors
    ///
    /// The error of the last attempt, marked as unresolved if any attempt was unresolved.
    pub async fn call<T, Fut>(&self, timer: &dyn Timer, mut call: impl FnMut(Attempt) -> Fut) -> Result<T>
    where
        Fut: Future<Output = Result<T>>,
    {
        let first = Attempt::first();
        let call = |is_any_lost| call(first.after_lost(is_any_lost));
        repeat(false, Delays(self.delays()), |delay| timer.sleep(delay), call).await
    }

    /// Makes the call, with retries. The argument of `call` says whether an earlier attempt was lost. Makes no further
    /// attempt after the time `end`, nor one that would probably be lost at that time.
    pub(crate) async fn repeat_until<T, Fut>(
        &self,
        timer: &dyn Timer,
        end: Option<Duration>,
        call: impl FnMut(bool) -> Fut,
    ) -> Result<T>
    where
        Fut: Future<Output = Result<T>>,
    {
        let backoff = Until { delays: Delays(self.delays()), timer, end, begun: timer.now(), is_any_lost: false };
        repeat(false, backoff, |delay| timer.sleep(delay), call).await
    }

    /// Makes the call, with retries until the time `end`. A policy without pauses gets the default pauses after
    /// `attempts` attempts. The argument of `call` says whether an earlier attempt was lost.
    pub(crate) async fn call_until<T, Fut>(
        &self,
        timer: &dyn Timer,
        end: Duration,
        call: impl FnMut(bool) -> Fut,
    ) -> Result<T>
    where
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
        repeat(false, Delays(delays), |delay| timer.sleep(delay), call).await
    }

    fn delays(&self) -> impl Iterator<Item = Duration> + use<> {
        let max_delay = self.max_delay;
        ExponentialBuilder::default()
            .with_min_delay(self.first_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.attempts.saturating_sub(1))
            .with_jitter()
            .build()
            // The jitter is added after the maximum was applied.
            .map(move |delay| delay.min(max_delay))
    }
}

/// The pauses between the attempts of a call.
struct Delays<I>(I);

impl<I: Iterator<Item = Duration> + Send> Backoff for Delays<I> {
    fn after(&mut self, error: &Error) -> Option<Duration> {
        let delay = self.0.next();
        delay.filter(|_| error.is_retryable())
    }
}

/// The pauses between the attempts of a call that ends at a time.
struct Until<'a, I> {
    delays: Delays<I>,
    timer: &'a dyn Timer,
    end: Option<Duration>,
    /// When the latest attempt began.
    begun: Duration,
    is_any_lost: bool,
}

impl<I: Iterator<Item = Duration> + Send> Backoff for Until<'_, I> {
    fn after(&mut self, error: &Error) -> Option<Duration> {
        let delay = self.delays.after(error)?;
        let next = self.timer.now().saturating_add(delay);
        let lasted = next.saturating_sub(delay).saturating_sub(self.begun);
        self.begun = next;
        self.is_any_lost |= error.certainty() == Certainty::Unknown;
        // An attempt that is cut off would turn a certain refusal into a doubt. A doubt it may still resolve.
        let lasts = if self.is_any_lost { Duration::ZERO } else { lasted };
        self.end.is_none_or(|end| next.saturating_add(lasts) < end).then_some(delay)
    }
}

/// How often a call is retried, and after which pauses.
pub trait Backoff: Send {
    /// Returns the pause after an attempt that failed with this error, or `None` if there is no next attempt. A pause
    /// of zero means an immediate retry.
    fn after(&mut self, error: &Error) -> Option<Duration>;
}

/// Returns growing pauses for a call that meets contention, about five seconds in all. Each pause is prolonged by a
/// random part of its own length.
pub fn pauses() -> impl Iterator<Item = Duration> + Send + use<> {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(1))
        .with_max_delay(Duration::from_millis(70))
        .with_max_times(50)
        .with_jitter()
        .build()
}

/// Makes a call until an attempt answers it, as long as the backoff allows. `is_any_lost` says whether the call was
/// made before, with an unknown outcome. The argument of each attempt says whether an earlier one was lost.
///
/// # Guarantees
///
/// - ER-4: the certainty of the whole call is the certainty of its least certain attempt. The closure must make the
///   same operation each time, with the same id.
///
/// # Cancel safety
///
/// The same as for the call: make it again with the same id.
///
/// # Errors
///
/// The error of the last attempt, marked as unresolved if any attempt was unresolved.
pub async fn repeat<T, F, P>(
    mut is_any_lost: bool,
    mut backoff: impl Backoff,
    mut pause: impl FnMut(Duration) -> P,
    mut attempt: impl FnMut(bool) -> F,
) -> Result<T>
where
    F: Future<Output = Result<T>>,
    P: Future<Output = ()>,
{
    loop {
        let error = match attempt(is_any_lost).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        is_any_lost |= error.certainty() == Certainty::Unknown;
        match backoff.after(&error) {
            // Yields, so that a deadline around the call can end it.
            Some(delay) if delay.is_zero() => let_others_on().await,
            Some(delay) => pause(delay).await,
            None if is_any_lost => return Err(error.after_unresolved()),
            None => return Err(error),
        }
    }
}
