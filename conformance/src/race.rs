//! Many callers at once.

use std::future::Future;
use std::sync::Arc;

use storagebox_core::Result;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::failure::Failure;
use crate::progress::on_its_own;

/// How many callers the races have.
pub(crate) const SIZES: [usize; 4] = [2, 8, 24, 64];

/// Starts `count` callers at one barrier and waits for all; their answers in the order of their numbers.
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

/// Makes the same call until it is answered. Contention and lost replies end by themselves; the bound is for a
/// store on which they do not.
pub(crate) async fn answered<T, Fut>(call: impl Fn() -> Fut + Send + Sync) -> Result<T, Failure>
where
    Fut: Future<Output = Result<T>> + Send,
{
    for _ in 0..1_000 {
        match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) if error.is_retryable() => tokio::task::yield_now().await,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::new("no answer in 1,000 attempts"))
}
