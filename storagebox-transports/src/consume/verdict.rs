//! The settlement of a message after it was processed.

use std::time::Duration;

use storagebox_core::{BoxError, Outcome, ProcessError};
use tracing::warn;

use crate::delivery::Settle;

/// The value in place of `park_after` in the limit of lone runs, if `park_after` is not set.
const ENDS: u32 = 5;

/// The number that is added to `park_after` in this limit: a worker that was killed from outside is not its message's
/// fault.
const MORE: u32 = 3;

/// When a message is retried, and when it is parked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) first_pause: Duration,
    pub(super) max_pause: Duration,
    pub(super) park_after: Option<u32>,
}

impl Policy {
    /// Decides the settlement. `share`, from 0 to 1, is the part of the jitter that is added to the pause.
    pub(super) fn settle(&self, result: &Result<Outcome, ProcessError>, attempt: u32, share: f64) -> Settle {
        match result {
            Ok(_) => Settle::Ack,
            Err(ProcessError::NoToken) => Settle::Park,
            Err(ProcessError::Handler(_)) if self.park_after.is_some_and(|after| attempt >= after) => Settle::Park,
            Err(ProcessError::Handler(_) | ProcessError::Store(_) | ProcessError::Dispatch(_)) => {
                Settle::Retry { after: self.pause(attempt, share) }
            }
        }
    }

    /// Returns an error for a message that ended its worker too often, by the number of its lone runs.
    pub(super) fn check(&self, lapsed: Option<u32>) -> Result<(), BoxError> {
        let most = self.park_after.unwrap_or(ENDS).saturating_add(MORE);
        let Some(runs) = lapsed.filter(|runs| *runs >= most) else { return Ok(()) };
        warn!(runs, "a message is parked: its worker ended so many times while the message ran alone");
        Err(format!("its worker ended {runs} times while it ran alone").into())
    }

    /// Returns a pause from half of the whole pause to all of it.
    fn pause(&self, attempt: u32, share: f64) -> Duration {
        let doubled = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let half = self.first_pause.saturating_mul(doubled).min(self.max_pause) / 2;
        half + half.mul_f64(share)
    }
}

#[cfg(test)]
mod tests {
    use storagebox_core::{Error, ErrorKind};

    use super::*;

    const POLICY: Policy =
        Policy { first_pause: Duration::from_secs(2), max_pause: Duration::from_secs(60), park_after: Some(3) };

    fn pause(attempt: u32, share: f64) -> u64 {
        POLICY.pause(attempt, share).as_secs()
    }

    #[test]
    fn a_pause_doubles_up_to_the_longest() {
        assert_eq!([0, 1, 2, 3, 5, 6, 33, u32::MAX].map(|attempt| pause(attempt, 1.0)), [2, 2, 4, 8, 32, 60, 60, 60]);
        assert_eq!([1, 2, 6].map(|attempt| pause(attempt, 0.0)), [1, 2, 30]);
    }

    #[test]
    fn only_a_handler_s_failure_is_parked_after_attempts() {
        let settle = |error, attempt| POLICY.settle(&Err(error), attempt, 1.0);
        let handler = || ProcessError::Handler("no".into());
        assert_eq!(settle(handler(), 3), Settle::Park);
        assert!(matches!(settle(handler(), 2), Settle::Retry { .. }));
        assert!(matches!(settle(ProcessError::Dispatch("no".into()), 9), Settle::Retry { .. }));
        let store = Error::new(ErrorKind::Unavailable, "it is down");
        assert!(matches!(settle(ProcessError::Store(store), 9), Settle::Retry { .. }));
        assert_eq!(settle(ProcessError::NoToken, 1), Settle::Park);
    }
}
