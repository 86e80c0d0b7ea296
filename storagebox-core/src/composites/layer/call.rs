//! A call on its way through the layers.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use super::{Layer, Part, Request, Response};
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::value::Namespace;

/// A call of a backend.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The short name of the backend, such as `memory`; empty for a [`LayeredPart`](super::LayeredPart) that was
    /// created on its own.
    pub backend: &'static str,
    /// The called part.
    pub part: Part,
    /// The name of the bank, repository, counter or store; `None` for calls of the backend as a whole, and for a
    /// [`LayeredPart`](super::LayeredPart) that was created on its own.
    pub namespace: Option<&'a Namespace>,
    /// The operation and its arguments.
    pub request: Request<'a>,
    /// Whether the backend recognises a repeated call. `false` for a change of a counter whose
    /// [promise](crate::CounterPromise::recognises_repeats) says so: nothing may repeat such a change after an unknown
    /// outcome.
    pub repeatable: bool,
    /// How long the backend recognises a repeated call, or zero if the backend recognises no repeated call.
    pub(super) remembered: Duration,
}

impl<'a> Call<'a> {
    /// Creates a call that belongs to no part. `recognises_repeats` is how long the backend recognises a repeated call,
    /// or `None` if the backend recognises no repeated call.
    pub(super) fn new(backend: &'static str, request: Request<'a>, recognises_repeats: Option<Duration>) -> Self {
        let repeatable = recognises_repeats.is_some() || request.kind() != Kind::Change;
        let remembered = recognises_repeats.unwrap_or_default();
        Self { backend, part: Part::Store, namespace: None, request, repeatable, remembered }
    }

    /// Returns the name of the called method of the part's trait, such as `take`.
    pub fn operation(&self) -> &'static str {
        self.request.operation()
    }

    /// Returns what the call may do.
    pub fn kind(&self) -> Kind {
        self.request.kind()
    }

    /// Makes the call through the layer. `outcome` returns `None` for the response of another operation.
    pub(super) async fn through<T>(
        &self,
        layer: &dyn Layer,
        next: Next<'_>,
        outcome: fn(Response) -> Option<T>,
    ) -> Result<T> {
        let response = layer.call(self, next).await.map_err(|error| self.failed(error))?;
        outcome(response).ok_or_else(|| {
            let message = "a layer answered with the response of another operation";
            self.failed(Error::new(self.kind().of_no_answer(), message))
        })
    }

    /// Adds the operation and the backend to an error that does not name them. Marks the error as
    /// [unrepeatable](Error::unrepeatable) if the call is not repeatable.
    fn failed(&self, error: Error) -> Error {
        let error = if error.operation().is_none() { error.during(self.operation()) } else { error };
        let error = match error.backend() {
            None if !self.backend.is_empty() => error.on(self.backend),
            _ => error,
        };
        if self.repeatable { error } else { error.unrepeatable() }
    }

    /// Returns how long the backend recognises a repeated change, or `None` if a change may not be repeated or the call
    /// is no change.
    pub(super) fn remembered_for(&self) -> Option<Duration> {
        (self.repeatable && self.kind() == Kind::Change).then_some(self.remembered)
    }
}

/// What a [`Call`] may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The call changes nothing, but it may create the namespace that it reads.
    Read,
    /// The call changes one thing, in one atomic step.
    Change,
    /// The call takes as many steps as its arguments or the backend's state require: batches of any size, setup and
    /// maintenance. Such a call has no natural time limit.
    Batch,
}

impl Kind {
    /// Returns the kind of the error for a call that got no answer.
    pub(super) fn of_no_answer(self) -> ErrorKind {
        match self {
            Self::Read => ErrorKind::Unavailable,
            Self::Change | Self::Batch => ErrorKind::OutcomeUnknown,
        }
    }
}

pub(super) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes the call, or passes it to the next layer. Nothing happens before the future is polled.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    call: &'a Call<'a>,
    make: &'a Make<'a>,
    detach: &'a Detach<'a>,
    is_any_lost: bool,
}

/// A function that makes the call. The argument says whether an earlier attempt was lost.
type Make<'a> = dyn Fn(bool) -> BoxFuture<'a, Result<Response>> + Send + Sync + 'a;

type Detach<'a> = dyn Fn(bool) -> BoxFuture<'static, Result<Response>> + Send + Sync + 'a;

impl<'a> Next<'a> {
    pub(super) fn new(call: &'a Call<'a>, make: &'a Make<'a>, detach: &'a Detach<'a>) -> Self {
        Self { call, make, detach, is_any_lost: false }
    }

    /// Returns the same call, made after an attempt whose outcome is unknown if `is_any_lost`. A refusal then also
    /// makes the lost attempt void (ER-5). A layer that repeats calls uses it, as [`Policy`](super::Policy) does.
    #[must_use]
    pub fn after_lost(self, is_any_lost: bool) -> Self {
        Self { is_any_lost, ..self }
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
    pub fn run(&self) -> impl Future<Output = Result<Response>> + Send + use<'a> {
        let Self { call, make, is_any_lost, .. } = *self;
        async move { make(is_any_lost).await.map_err(|error| call.failed(error)) }
    }

    /// Makes the call like [`Next::run`], with a copy of its arguments. The future outlives the caller, so a layer may
    /// move it to another task, or await it after the caller has its answer. Its errors are those of [`Next::run`].
    pub fn detached(&self) -> impl Future<Output = Result<Response>> + Send + use<> {
        let (detached, repeatable) = ((self.detach)(self.is_any_lost), self.call.repeatable);
        async move { detached.await.map_err(|error| if repeatable { error } else { error.unrepeatable() }) }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("call", self.call).finish_non_exhaustive()
    }
}
