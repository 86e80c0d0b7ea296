//! Stores for tests: in memory, with layers that cause faults.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::{Error, ErrorKind, MemoryStore, Result, Store, async_trait};

/// Returns an empty store without a deadline per call, like the stores that the command opens.
pub(crate) fn memory() -> Store {
    Store::new(MemoryStore::new()).without_deadline()
}

/// Returns a store that needs a `setup` before a `ping` succeeds.
pub(crate) fn bare() -> Store {
    let is_set_up = AtomicBool::new(false);
    memory().layer(Instead(move |call: &Call<'_>| match call.operation() {
        "ping" if !is_set_up.load(Ordering::Relaxed) => Err(Error::new(ErrorKind::NotSetUp, "the store is not set up")),
        operation => {
            is_set_up.fetch_or(operation == "setup", Ordering::Relaxed);
            Ok(None)
        }
    }))
}

/// Returns a store whose first `failures` calls of `setup` and `ping` fail.
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

/// Returns a store that applies every call, and loses the first and then every second reply.
pub(crate) fn loses_replies(store: &Store) -> Store {
    let calls = AtomicUsize::new(0);
    store.clone().layer(After(move |_: &Call<'_>, answer| match calls.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Err(Error::unknown("the reply was lost")),
        _ => Ok(answer),
    }))
}

/// Returns a store that applies every call, but answers only the first `answers` calls.
pub(crate) fn stops_after(store: &Store, answers: usize) -> Store {
    let calls = AtomicUsize::new(0);
    store.clone().layer(After(move |_: &Call<'_>, answer| match calls.fetch_add(1, Ordering::Relaxed) {
        call if call >= answers => Err(Error::new(ErrorKind::Denied, "the program was killed")),
        _ => Ok(answer),
    }))
}

/// Returns a store with a layer that changes each outcome of this operation.
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

/// A layer that asks the function for an answer before each call, and makes the call only without an answer.
pub(crate) struct Instead<F>(pub F);

/// A layer that calls the function with each answer.
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
