//! A time limit for calls.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::around::of_no_answer;
use super::{Answered, Call, Kind, Layer, Next};
use crate::error::{Error, Result};
use crate::race::{First, first_of};
use crate::time::Timer;

/// Drops a call that has no answer in time. Around [`Retries`](super::Retries) it bounds the total time of all
/// attempts.
///
/// A [`Batch`](Kind::Batch) has no deadline: its time depends on its size, and the backend bounds each of its steps.
///
/// # Errors
///
/// `OutcomeUnknown`, as for a backend's own call timeout; `Unavailable` for a [`Read`](Kind::Read), which applied
/// nothing.
#[derive(Clone, Debug)]
pub struct Deadline {
    within: Duration,
    timer: Arc<dyn Timer>,
}

impl Deadline {
    /// Limits each call to this time, measured by this timer.
    pub fn new(within: Duration, timer: Arc<dyn Timer>) -> Self {
        Self { within, timer }
    }

    fn is_over(&self, call: &Call<'_>) -> Error {
        let message = format!("there was no answer within {:?}", self.within);
        Error::new(of_no_answer(call.kind), message).during(call.operation).on(call.backend)
    }
}

#[async_trait]
impl Layer for Deadline {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        if call.kind == Kind::Batch {
            return next.call().await;
        }
        // Lazy: a call that is answered at once does not start the timer.
        let over = async { self.timer.sleep(self.within).await };
        match first_of(next.call(), over).await {
            First::Left(answer) => answer,
            First::Right(()) => Err(self.is_over(call)),
        }
    }
}
