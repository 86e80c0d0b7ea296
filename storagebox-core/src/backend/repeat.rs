//! The one loop that makes a call again: for handles, runs, backends and the command.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use crate::error::{Certainty, Error, Result};
use crate::settles::Settles;

/// Why an attempt is not the answer of its call.
#[derive(Clone, Copy, Debug)]
pub enum Setback<'a> {
    /// It failed.
    Failed(&'a Error),
    /// It was answered, and an earlier one may still take effect, whose own answer was lost.
    Open,
}

/// How often a call is made again, and after which pauses.
pub trait Backoff: Send {
    /// The pause before one more attempt, or `None` if there is none. None is made before a pause of nought.
    fn after(&mut self, setback: Setback<'_>) -> Option<Duration>;

    /// Whether the call was made before the first attempt already, in vain and with an unknown outcome.
    fn begins_unresolved(&self) -> bool {
        false
    }
}

/// Longer and longer pauses for a call that others are in the way of, each with as much again by chance: about five seconds in
/// all.
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
/// - ER-4: the certainty of the whole is that of its least certain attempt. An outcome that does not [settle](Settles) an
///   earlier attempt is not answered. The closure must make the same operation each time, with the same id.
///
/// # Cancel safety
///
/// That of the call: make it again with the same id.
///
/// # Errors
///
/// The last attempt's, marked as unresolved if any attempt was.
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
            Some(delay) if delay.is_zero() => {}
            Some(delay) => pause(delay).await,
            None if is_unresolved => return Err(error.after_unresolved()),
            None => return Err(error),
        }
    }
}

fn open() -> Error {
    Error::unknown("an earlier attempt's answer was lost, and it may still take effect")
}
