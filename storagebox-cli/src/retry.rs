//! Calls that are made again while a store is in trouble for a moment.

use std::sync::atomic::{AtomicU32, Ordering};

use storagebox::counters::CounterPromise;
use storagebox::parts::Settles;
use storagebox::parts::backend::{Attempts, Settled};
use storagebox::time::{Timer, TokioTimer};
use storagebox::{Counted, Result, Retry};
use tracing::{Instrument, debug, debug_span};

use crate::exit::Failure;
use crate::step::Step;

/// A call that carries its id, so that each attempt is the same operation.
pub(crate) async fn named<T, Fut>(step: Step, call: impl FnMut() -> Fut) -> Result<T, Failure>
where
    T: Settles,
    Fut: Future<Output = Result<T>>,
{
    by(Retry::default(), step, call).await
}

/// The same, with more patience or less.
pub(crate) async fn by<T, Fut>(retry: Retry, step: Step, call: impl FnMut() -> Fut) -> Result<T, Failure>
where
    T: Settles,
    Fut: Future<Output = Result<T>>,
{
    plain(retry, step, call).await.map_err(|error| step.failed(error))
}

/// The same for those who tell of a failure themselves.
pub(crate) async fn plain<T, Fut>(retry: Retry, step: Step, mut call: impl FnMut() -> Fut) -> Result<T>
where
    T: Settles,
    Fut: Future<Output = Result<T>>,
{
    let attempts = AtomicU32::new(0);
    let attempt = || {
        let attempt = call();
        let number = attempts.fetch_add(1, Ordering::Relaxed) + 1;
        async move { attempt.await.inspect_err(|error| debug!(attempt = number, %error, "failed")) }
    };
    let span = debug_span!("call", to = %step);
    retry.call(&TokioTimer, attempt).instrument(span).await
}

/// A change of a counter: not once its operation may be forgotten, because it would count again.
pub(crate) async fn counted<Fut>(
    step: Step,
    promise: CounterPromise,
    mut change: impl FnMut() -> Fut,
) -> Result<Counted, Failure>
where
    Fut: Future<Output = Result<Counted>> + Send,
{
    let first = TokioTimer.now();
    let attempts = Attempts::new(promise.remembers(), || TokioTimer.now().saturating_sub(first));
    named(step, || attempts.make(|left| TokioTimer.sleep(left), change())).await
}

/// A call that only reads, or that names a state, so that an attempt which lands late does no harm.
pub(crate) async fn harmless<T, Fut>(step: Step, mut call: impl FnMut() -> Fut) -> Result<T, Failure>
where
    Fut: Future<Output = Result<T>>,
{
    let attempt = || {
        let attempt = call();
        async { attempt.await.map(Settled) }
    };
    named(step, attempt).await.map(|Settled(answer)| answer)
}
