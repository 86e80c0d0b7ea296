//! Retries of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use tracing::field::Empty;
use tracing::{Instrument, Span, debug, debug_span};

use super::{Answered, Call, Layer, Next};
use crate::backend::Attempts;
use crate::error::Result;
use crate::retry::Retry;
use crate::time::Timer;

/// Retries a call for as long as its errors are retryable.
///
/// Each call has a span `call`. Its field `attempts` says how often the call was made, if more than once.
///
/// # Guarantees
///
/// - ER-4: as in [`Retry`]. A call that is not [repeatable](Call::repeatable) is not made again after an unknown
///   outcome, nor is a change of a counter once half of the time has passed for which the counter remembers it.
#[derive(Clone, Debug)]
pub struct Retries {
    retry: Retry,
    timer: Arc<dyn Timer>,
}

impl Retries {
    /// Creates a layer that retries calls as `retry` says and waits with `timer` between two attempts.
    pub fn new(retry: Retry, timer: Arc<dyn Timer>) -> Self {
        Self { retry, timer }
    }
}

#[async_trait]
impl Layer for Retries {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let (timer, span, number) = (&*self.timer, span(call), AtomicU32::new(0));
        let first = timer.now();
        let attempts = Attempts::new(call.remembered_for(), || timer.now().saturating_sub(first));
        let attempt = || {
            let attempt = async {
                count(&span, &number);
                next.call().await.inspect_err(|error| debug!(%error, "an attempt failed"))
            };
            attempts.make(|left| timer.sleep(left), attempt)
        };
        self.retry.call(timer, attempt).instrument(span.clone()).await
    }
}

fn count(span: &Span, number: &AtomicU32) {
    let number = number.fetch_add(1, Ordering::Relaxed) + 1;
    if number > 1 {
        span.record("attempts", number);
    }
}

fn span(call: &Call<'_>) -> Span {
    let Call { backend, part, operation, namespace, .. } = *call;
    let namespace = namespace.map(tracing::field::display);
    debug_span!("call", backend, %part, operation, namespace, attempts = Empty)
}
