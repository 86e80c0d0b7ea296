//! Stores of the tests: in memory, with faults as layers.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::{Error, ErrorKind, MemoryStore, Result, Store, async_trait};

/// An empty store, with the policy of the command.
pub(crate) fn memory() -> Store {
    Store::new(MemoryStore::new()).without_deadline()
}

/// A store that is not set up yet.
pub(crate) fn bare() -> Store {
    let is_set_up = AtomicBool::new(false);
    memory().layer(Instead(move |call: &Call<'_>| match call.operation() {
        "ping" if !is_set_up.load(Ordering::Relaxed) => Err(Error::new(ErrorKind::NotSetUp, "the store is bare")),
        operation => {
            is_set_up.fetch_or(operation == "setup", Ordering::Relaxed);
            Ok(None)
        }
    }))
}

/// A store whose set-up and ping fail so often, and whose parts work.
pub(crate) fn failing(kind: ErrorKind, failures: usize) -> Store {
    let failures = AtomicUsize::new(failures);
    memory().layer(Instead(move |call: &Call<'_>| {
        let fails = || failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        match call.operation() {
            "setup" | "ping" if fails() => Err(Error::new(kind, "as the test asked")),
            _ => Ok(None),
        }
    }))
}

/// Applies every call, and loses the replies to the first, the third and so on.
pub(crate) fn loses_replies(store: &Store) -> Store {
    let calls = AtomicUsize::new(0);
    store.clone().layer(After(move |_: &Call<'_>, answer| match calls.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Err(Error::unknown("the reply was lost")),
        _ => Ok(answer),
    }))
}

/// Applies so many calls and the next, and answers nothing from that one on.
pub(crate) fn stops_after(store: &Store, answers: usize) -> Store {
    let calls = AtomicUsize::new(0);
    store.clone().layer(After(move |_: &Call<'_>, answer| match calls.fetch_add(1, Ordering::Relaxed) {
        call if call >= answers => Err(Error::new(ErrorKind::Denied, "the program was killed")),
        _ => Ok(answer),
    }))
}

/// Changes each outcome of this operation.
macro_rules! tampers {
    ($store:expr, $operation:ident, $change:expr) => {
        $store.clone().layer($crate::commands::faulty::After(
            move |_: &storagebox::layer::Call<'_>, mut response: storagebox::layer::Response| {
                if let storagebox::layer::Response::$operation(outcome) = &mut response {
                    $change(outcome);
                }
                Ok(response)
            },
        ))
    };
}

pub(crate) use tampers;

/// Asked before each call: `None` makes the call, and anything else is the answer instead.
pub(crate) struct Instead<F>(pub F);

/// Asked what becomes of each answer.
pub(crate) struct After<F>(pub F);

#[async_trait]
impl<F> Layer for Instead<F>
where
    F: Fn(&Call<'_>) -> Result<Option<Response>> + Send + Sync + 'static,
{
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match (self.0)(call)? {
            Some(answer) => Ok(answer),
            None => next.run().await,
        }
    }
}

#[async_trait]
impl<F> Layer for After<F>
where
    F: Fn(&Call<'_>, Response) -> Result<Response> + Send + Sync + 'static,
{
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        (self.0)(call, next.run().await?)
    }
}

impl<F> fmt::Debug for Instead<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Instead")
    }
}

impl<F> fmt::Debug for After<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("After")
    }
}
