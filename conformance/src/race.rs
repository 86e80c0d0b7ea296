//! Many concurrent callers.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use storagebox_core::{Certainty, Error, Result};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::failure::Failure;
use crate::progress::on_its_own;

/// The numbers of callers in races.
pub(crate) const SIZES: [usize; 4] = [2, 8, 24, 64];

/// Starts `count` callers at one barrier, and returns their answers in the order of their numbers.
pub(crate) async fn race<T, Fut>(count: usize, call: impl Fn(usize) -> Fut) -> Result<Vec<T>, Failure>
where
    T: Send + 'static,
    Fut: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let start = Arc::new(Barrier::new(count));
    let mut callers = JoinSet::new();
    for number in 0..count {
        let (start, call) = (Arc::clone(&start), call(number));
        callers.spawn(on_its_own(async move {
            start.wait().await;
            (number, call.await)
        }));
    }
    let mut answers = callers.join_all().await;
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The limit on the attempts of [`repeated`].
const MOST: u32 = 1_000;
const LEAST: u32 = 30;
const PATIENCE: Duration = Duration::from_secs(120);

/// Repeats a call after every error that allows a retry, until the call is answered.
pub(crate) async fn answered<T, Fut>(call: impl Fn() -> Fut + Send + Sync) -> Result<T, Failure>
where
    Fut: Future<Output = Result<T>> + Send,
{
    repeated(call, Error::is_retryable).await
}

/// Makes a call of a recorded history. Repeats it while its error says that nothing was done, because such an attempt
/// is not a part of the history. Returns `None` if the outcome is unknown.
pub(crate) async fn recorded<T, Fut>(call: impl Fn() -> Fut + Send + Sync) -> Result<Option<T>, Failure>
where
    Fut: Future<Output = Result<T>> + Send,
{
    let attempt = || async {
        match call().await {
            Err(error) if error.is_retryable() && error.certainty() == Certainty::Unknown => Ok(None),
            answer => answer.map(Some),
        }
    };
    repeated(attempt, Error::is_retryable).await
}

/// Repeats a call after each error that `again` accepts, and returns the first answer. Gives up after `MOST` attempts,
/// or earlier when `PATIENCE` has passed and `LEAST` attempts were made.
#[allow(clippy::disallowed_methods, reason = "how long a store goes without an answer for real")]
pub(crate) async fn repeated<T, Fut>(call: impl Fn() -> Fut, again: impl Fn(&Error) -> bool) -> Result<T, Failure>
where
    Fut: Future<Output = Result<T>>,
{
    let begun = Instant::now();
    let mut attempts = 0;
    loop {
        let error = match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) if again(&error) => error,
            Err(error) => return Err(error.into()),
        };
        attempts += 1;
        if attempts == MOST || (attempts >= LEAST && begun.elapsed() >= PATIENCE) {
            return Err(Failure::new(format!("no answer in {attempts} attempts; the last error: {error}")));
        }
        tokio::task::yield_now().await;
    }
}
