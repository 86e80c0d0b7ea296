//! The rest of a call's way, and what came of it.

use std::fmt;
use std::pin::Pin;

use super::Call;
use crate::error::Result;
use crate::settles::Settles;

pub(super) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Makes the call, or has the next layer make it. Nothing is made before the future is polled.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    call: &'a Call<'a>,
    make: &'a Make<'a>,
}

type Make<'a> = dyn Fn() -> BoxFuture<'a, Result<Answered>> + Send + Sync + 'a;

impl<'a> Next<'a> {
    pub(super) fn new(call: &'a Call<'a>, make: &'a Make<'a>) -> Self {
        Self { call, make }
    }

    /// Makes the call, with the same arguments each time.
    ///
    /// # Cancel safety
    ///
    /// That of the call: after a future that was dropped half-way its outcome is unknown, and the same call resolves it.
    ///
    /// # Errors
    ///
    /// Those of the call. After an unknown outcome of a call that the backend would not recognise, the error is not
    /// [retryable](crate::Error::is_retryable).
    pub fn call(&self) -> impl Future<Output = Result<Answered>> + Send + use<'a> {
        let Self { call, make } = *self;
        async move { make().await.map_err(|error| call.failed(error)) }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("call", self.call).finish_non_exhaustive()
    }
}

/// The proof that the call was made and has an outcome. The outcome itself goes to the caller past all layers; of several
/// answers of one call it is the last.
#[derive(Debug)]
#[must_use = "a call without its answer is a call that failed"]
pub struct Answered {
    settles: bool,
}

impl Answered {
    pub(super) fn new(settles: bool) -> Self {
        Self { settles }
    }
}

/// Whether the outcome settles an earlier attempt; what a read found always does.
impl Settles for Answered {
    fn settles(&self) -> bool {
        self.settles
    }
}
