//! Calls that are made again while a store is in trouble for a moment.

use storagebox::{Result, Retry, Settles, TokioTimer};

use crate::exit::Failure;
use crate::step::Step;

/// A call that carries its id, so that each attempt is the same operation.
pub(crate) async fn named<T, Fut>(step: Step, call: impl FnMut() -> Fut) -> Result<T, Failure>
where
    T: Settles,
    Fut: Future<Output = Result<T>>,
{
    Retry::default().call(&TokioTimer, call).await.map_err(|error| step.failed(error))
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

struct Settled<T>(T);

impl<T> Settles for Settled<T> {
    fn settles(&self) -> bool {
        true
    }
}
