//! Retries of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tracing::field::Empty;
use tracing::{Instrument, Span, debug, debug_span};

use super::{Answered, Call, Layer, Next};
use crate::backend::repeat::open;
use crate::error::{Certainty, Result};
use crate::retry::Retry;
use crate::settles::Settles;
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

impl Retries {
    /// The answer of an attempt. After a lost attempt whose operation may be forgotten by the time of the next one,
    /// only an answer that needs no next one.
    fn while_remembered(
        &self,
        call: &Call<'_>,
        first: Duration,
        lost: &AtomicBool,
        answer: Result<Answered>,
    ) -> Result<Answered> {
        let is_lost = answer.as_ref().is_err_and(|error| error.certainty() == Certainty::Unknown);
        let any_lost = lost.fetch_or(is_lost, Ordering::Relaxed) || is_lost;
        if !any_lost || call.is_remembered(self.timer.now().saturating_sub(first)) {
            return answer;
        }
        match answer {
            Ok(answer) if answer.settles() => Ok(answer),
            Ok(_) => Err(open().unrepeatable()),
            Err(error) => Err(error.after_unresolved().unrepeatable()),
        }
    }
}

#[async_trait]
impl Layer for Retries {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let (span, attempts) = (span(call), AtomicU32::new(0));
        let (first, lost) = (self.timer.now(), AtomicBool::new(false));
        let attempt = || {
            let number = attempts.fetch_add(1, Ordering::Relaxed) + 1;
            if number > 1 {
                span.record("attempts", number);
            }
            async {
                let answer = next.call().await.inspect_err(|error| debug!(%error, "an attempt failed"));
                self.while_remembered(call, first, &lost, answer)
            }
        };
        self.retry.call(&*self.timer, attempt).instrument(span.clone()).await
    }
}

fn span(call: &Call<'_>) -> Span {
    let Call { backend, part, operation, namespace, .. } = *call;
    let namespace = namespace.map(tracing::field::display);
    debug_span!("call", backend, %part, operation, namespace, attempts = Empty)
}
