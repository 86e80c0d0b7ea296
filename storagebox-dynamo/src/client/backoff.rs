//! How often an attempt is repeated, and after which pauses.

use std::error::Error as _;
use std::time::Duration;

use storagebox_core::backend::Backoff;
use storagebox_core::{Certainty, Error, ErrorKind};
use tokio::time::Instant;

use crate::error::lacks_credentials;

tokio::task_local! {
    /// The deadline of the call in progress.
    pub(super) static END: Instant;
}

/// The failed attempts of a call, counted by cause, and the deadline of the call.
#[derive(Debug, Default)]
pub(super) struct CallBackoff {
    conflicts: u32,
    failures: u32,
    doubts: u32,
    /// How many repetitions are left, if their number is limited.
    left: Option<u32>,
    /// The start of the current attempt and the deadline of the call; `None` outside a call.
    time: Option<(Instant, Instant)>,
}

#[derive(Clone, Copy)]
struct Pauses {
    first_millis: u64,
    longest_millis: u64,
    most: u32,
}

const CONFLICTS: Pauses = Pauses { first_millis: 2, longest_millis: 200, most: 60 };
/// The pauses after a throttle, a lost reply or a failed read.
const FAILURES: Pauses = Pauses { first_millis: 10, longest_millis: 1_600, most: 12 };
/// The pauses after a doubt that no request explains. Such a doubt seldom ends while the call lasts: an operation keeps no
/// more void calls, for example.
const DOUBTS: Pauses = Pauses { first_millis: 10, longest_millis: 40, most: 2 };
/// How often a failed read is repeated before the attempt of its call fails.
const READS: u32 = 3;

/// Returns the present time, and the deadline of a call that begins now.
#[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
pub(super) fn begin_and_end(timeout: Duration) -> (Instant, Instant) {
    let now = Instant::now();
    let end = now + timeout;
    // A call inside another call ends no later than the outer call.
    (now, END.try_get().map_or(end, |of_call| of_call.min(end)))
}

impl CallBackoff {
    pub(super) fn of_call(begun: Instant, end: Instant) -> Self {
        Self { time: Some((begun, end)), ..Self::default() }
    }

    /// Creates the backoff of a read within the call in progress.
    #[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
    pub(super) fn of_read() -> Self {
        let time = END.try_get().ok().map(|end| (Instant::now(), end));
        Self { time, left: Some(READS), ..Self::default() }
    }

    fn pause(&mut self, error: &Error) -> Option<Duration> {
        match error.kind() {
            _ if !error.is_retryable() || error.source().is_some_and(lacks_credentials) => None,
            ErrorKind::OutcomeUnknown if error.source().is_none() => DOUBTS.next(&mut self.doubts),
            ErrorKind::Contention => CONFLICTS.next(&mut self.conflicts),
            ErrorKind::Throttled | ErrorKind::Unavailable | ErrorKind::OutcomeUnknown => {
                FAILURES.next(&mut self.failures)
            }
            _ => None,
        }
    }

    /// Returns whether there is time for another attempt after this pause.
    #[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
    fn has_time_for(&mut self, pause: Duration, is_certain: bool) -> bool {
        let Some((begun, end)) = &mut self.time else { return true };
        let now = Instant::now();
        // After an error that surely changed nothing, an attempt as long as the last one must also end in time: the
        // outcome of an attempt that the deadline cuts off is unknown.
        let lasts = if is_certain { now.duration_since(*begun) } else { Duration::ZERO };
        *begun = now + pause;
        *begun + lasts < *end
    }
}

impl Backoff for CallBackoff {
    fn after(&mut self, error: &Error) -> Option<Duration> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let is_certain = error.certainty() == Certainty::NotApplied;
        let pause = self.pause(error)?;
        self.has_time_for(pause, is_certain).then_some(pause)
    }
}

impl Pauses {
    /// Returns the next random pause; `None` after the last pause.
    #[allow(clippy::disallowed_methods, reason = "jitter is chance; no promise depends on it")]
    fn next(self, made: &mut u32) -> Option<Duration> {
        if *made == self.most {
            return None;
        }
        let ceiling = self.first_millis.saturating_mul(1 << (*made).min(20)).min(self.longest_millis);
        *made += 1;
        Some(Duration::from_micros(fastrand::u64(500..=ceiling * 1_000)))
    }
}

#[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
pub(crate) async fn wait(pause: Duration) {
    tokio::time::sleep(pause).await;
}
