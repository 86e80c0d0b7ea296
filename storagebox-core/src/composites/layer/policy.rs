//! Retries of calls, and their time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tracing::field::Empty;
use tracing::{Instrument, Span, debug, debug_span};

use super::{Call, Kind, Layer, Next, Response};
use crate::backend::Attempts;
use crate::backend::race::{First, first_of};
use crate::backend::retry::Retry;
use crate::values::error::{Error, Result};
use crate::values::time::Timer;

/// Retries a call for as long as its errors are retryable and its deadline has not passed.
///
/// A [`Batch`](Kind::Batch) has no deadline: its time depends on its size, and the backend bounds each of its steps.
///
/// A call that may be retried has a span `call`. Its field `attempts` says how often the call was made, if more than
/// once.
///
/// # Guarantees
///
/// - ER-4, ER-5: as in [`Retry`]. A call that is not [repeatable](Call::repeatable) is not made again after an unknown
///   outcome, nor is a change of a counter once half of the time has passed for which the counter remembers it.
///
/// # Cancel safety
///
/// The same as for the call: after a dropped future or a deadline the outcome is unknown, and the same call resolves
/// it.
///
/// # Errors
///
/// `OutcomeUnknown` if an attempt is not answered before the deadline, as for a backend's own call timeout;
/// `Unavailable` for a [`Read`](Kind::Read), which applied nothing. As long as no attempt was lost, no attempt begins
/// that would end after the deadline if it took as long as the one before: the call ends with that attempt's error.
#[derive(Clone, Debug)]
pub struct Policy {
    /// How often a call is retried; `None` makes a single attempt.
    pub retry: Option<Retry>,
    /// The time limit of a call with all its attempts.
    pub deadline: Option<Duration>,
    /// Measures the deadline and the pauses between attempts.
    pub timer: Arc<dyn Timer>,
}

#[async_trait]
impl Layer for Policy {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let begun = self.timer.now();
        let end = self.deadline.filter(|_| call.kind() != Kind::Batch).map(|within| begun.saturating_add(within));
        match self.retry {
            Some(retry) => self.attempts(retry, begun, end, call, next).await,
            None => self.bounded(end, call, next.run()).await,
        }
    }

    fn joins(&self) -> bool {
        false
    }
}

impl Policy {
    async fn attempts(
        &self,
        retry: Retry,
        begun: Duration,
        end: Option<Duration>,
        call: &Call<'_>,
        next: Next<'_>,
    ) -> Result<Response> {
        let (timer, span, number) = (&*self.timer, span(call), AtomicU32::new(0));
        let attempts =
            Attempts::new(call.request.is_repeated(), call.remembered_for(), || timer.now().saturating_sub(begun));
        let attempt = |is_any_lost| {
            let made = self.bounded(end, call, next.after_lost(is_any_lost).run());
            let attempt = async {
                count(&span, &number);
                made.await.inspect_err(|error| debug!(%error, "an attempt failed"))
            };
            attempts.make(|left| timer.sleep(left), attempt)
        };
        retry.repeat_until(timer, end, attempt).instrument(span.clone()).await
    }

    /// Ends an attempt at the deadline of its call.
    async fn bounded(
        &self,
        end: Option<Duration>,
        call: &Call<'_>,
        attempt: impl Future<Output = Result<Response>>,
    ) -> Result<Response> {
        let Some(end) = end else { return attempt.await };
        // Lazy: an attempt that is answered at once does not start the timer.
        let over = async { self.timer.sleep(end.saturating_sub(self.timer.now())).await };
        match first_of(attempt, over).await {
            First::Left(answer) => answer,
            First::Right(()) => {
                let message = format!("there was no answer within {:?}", self.deadline.unwrap_or_default());
                Err(Error::new(call.kind().of_no_answer(), message).during(call.operation()).on(call.backend))
            }
        }
    }
}

fn count(span: &Span, number: &AtomicU32) {
    let number = number.fetch_add(1, Ordering::Relaxed) + 1;
    if number > 1 {
        span.record("attempts", number);
    }
}

fn span(call: &Call<'_>) -> Span {
    let Call { backend, part, namespace, .. } = *call;
    let (operation, namespace) = (call.operation(), namespace.map(tracing::field::display));
    debug_span!("call", backend, %part, operation, namespace, attempts = Empty)
}
