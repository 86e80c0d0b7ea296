//! The rest of the path of a call, and its outcome.

use std::any::Any;
use std::fmt;
use std::pin::Pin;

use super::Call;
use crate::error::Result;
use crate::settles::Settles;

pub(super) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes the call, or passes it to the next layer. Nothing happens before the future is polled.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    call: &'a Call<'a>,
    make: &'a Make<'a>,
    detach: &'a Detach<'a>,
}

type Make<'a> = dyn Fn() -> BoxFuture<'a, Result<Answered>> + Send + Sync + 'a;

type Detach<'a> = dyn Fn() -> BoxFuture<'static, Result<Answered>> + Send + Sync + 'a;

impl<'a> Next<'a> {
    pub(super) fn new(call: &'a Call<'a>, make: &'a Make<'a>, detach: &'a Detach<'a>) -> Self {
        Self { call, make, detach }
    }

    /// Makes the call, with the same arguments each time.
    ///
    /// # Cancel safety
    ///
    /// The same as for the call: after a dropped future the outcome is unknown, and the same call resolves it.
    ///
    /// # Errors
    ///
    /// The errors of the call. After an unknown outcome of a call that the backend would not recognise, the error is
    /// not [retryable](crate::Error::is_retryable).
    pub fn call(&self) -> impl Future<Output = Result<Answered>> + Send + use<'a> {
        let Self { call, make, .. } = *self;
        async move { make().await.map_err(|error| call.failed(error)) }
    }

    /// Makes the call like [`Next::call`], with a copy of its arguments. The future outlives the caller, so a layer may
    /// move it to another task, or await it after the caller has its answer.
    pub fn detached(&self) -> impl Future<Output = Result<Answered>> + Send + use<> {
        let (detached, repeatable) = ((self.detach)(), self.call.repeatable);
        async move { detached.await.map_err(|error| if repeatable { error } else { error.unrepeatable() }) }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("call", self.call).finish_non_exhaustive()
    }
}

/// The outcome of a call on its way back through the layers. Its type is the outcome type of the method:
/// [`Taken`](crate::Taken) for `take`.
#[derive(Debug)]
#[must_use = "a call without its answer is a call that failed"]
pub struct Answered {
    outcome: Box<dyn Any + Send>,
    settles: bool,
}

impl Answered {
    /// Creates an answer with this outcome, for a test that needs a store with a fault, or for a cache. The caller gets
    /// an error if the call has no outcomes of this type. The outcome [settles](Settles) an earlier attempt only if an
    /// outcome of the store would.
    pub fn of(outcome: impl Any + Send) -> Self {
        Self { outcome: Box::new(outcome), settles: true }
    }

    pub(super) fn settling(self, settles: bool) -> Self {
        Self { settles, ..self }
    }

    /// Returns the outcome, if it has this type.
    pub fn outcome<T: Any>(&self) -> Option<&T> {
        self.outcome.downcast_ref()
    }

    /// Changes the outcome if it has this type, for a test that needs a store with a fault.
    pub fn map<T: Any>(mut self, change: impl FnOnce(&mut T)) -> Self {
        if let Some(outcome) = self.outcome.downcast_mut() {
            change(outcome);
        }
        self
    }

    pub(super) fn into_outcome<T: Any>(self) -> Option<T> {
        self.outcome.downcast().ok().map(|outcome| *outcome)
    }
}

/// Returns whether the outcome settles an earlier attempt; the outcome of a read always does.
impl Settles for Answered {
    fn settles(&self) -> bool {
        self.settles
    }
}
