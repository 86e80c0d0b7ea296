//! The retry loop, shared by handles, runs, backends and the command.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use crate::error::{Certainty, Error, Result};
use crate::race::let_others_on;
use crate::settles::Settles;

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
    Error::unknown("an earlier attempt's answer was lost, and it may still take effect")
}
