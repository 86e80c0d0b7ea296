//! The settlement of a message after it was processed.

use std::time::Duration;

use storagebox_core::{BoxError, Outcome, ProcessError};
use tracing::warn;

use crate::delivery::Settle;

/// The default of `park_after` for messages that end their worker.
const ENDS: u32 = 5;

/// How often a message may run alone beyond `park_after`, because other causes may end the worker too.
const MORE: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) first_pause: Duration,
    pub(super) max_pause: Duration,
    pub(super) park_after: Option<u32>,
}

impl Policy {
    /// Decides whether a message is acknowledged, retried or parked. `share` is the random part of the pause, from 0 to
    /// 1.
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

    /// Returns an error if the message has run alone the maximum number of times without a settlement.
    pub(super) fn check(&self, lapsed: Option<u32>) -> Result<(), BoxError> {
        let most = self.park_after.unwrap_or(ENDS).saturating_add(MORE);
        let Some(runs) = lapsed.filter(|runs| *runs >= most) else { return Ok(()) };
        warn!(runs, "a message is parked: its worker ended in each of its last lone runs");
        Err(format!("its worker ended {runs} times while the message ran alone").into())
    }

    /// Returns the pause of a retry: half of the full pause, plus `share` of the other half.
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
    fn pause_doubles_with_each_attempt_up_to_the_maximum() {
        assert_eq!([0, 1, 2, 3, 5, 6, 33, u32::MAX].map(|attempt| pause(attempt, 1.0)), [2, 2, 4, 8, 32, 60, 60, 60]);
        assert_eq!([1, 2, 6].map(|attempt| pause(attempt, 0.0)), [1, 2, 30]);
    }

    #[test]
    fn attempt_limit_parks_only_messages_whose_handler_fails() {
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
