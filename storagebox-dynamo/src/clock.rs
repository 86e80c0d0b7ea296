//! The time by which expiry is judged: the machine's, corrected by the `Date` of the service's answers.
//!
//! DynamoDB has no clock in its conditions. So each client judges by its own, and every expiry leaves room for two
//! clocks that differ by `max_skew`. Who holds what, and which fence is the newest, never depends on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::primitives::{DateTime, DateTimeFormat};
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::BeforeDeserializationInterceptorContextRef;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use storagebox_core::Clock;

/// A point in time, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Millis(pub(crate) i64);

impl Millis {
    #[must_use]
    pub(crate) fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    #[must_use]
    pub(crate) fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    pub(crate) fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0).max(0).unsigned_abs())
    }
}

/// In whole milliseconds, rounded up, so that nothing lasts shorter than was asked for.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// The clock with its correction.
#[derive(Clone, Debug)]
pub(crate) struct Corrected {
    clock: Arc<dyn Clock>,
    /// Milliseconds that the service is ahead.
    ahead: Arc<AtomicI64>,
    /// Clocks that differ by less are left alone: the header has whole seconds, and the answer took its time.
    tolerance: Duration,
}

impl Corrected {
    pub(crate) fn new(clock: Arc<dyn Clock>, tolerance: Duration) -> Self {
        Self { clock, ahead: Arc::default(), tolerance }
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(millis(self.clock.now()).saturating_add(self.ahead.load(Ordering::Relaxed)))
    }

    /// Learns from an answer's `Date`: whole seconds, of which the middle is meant.
    fn hear(&self, date: &str) {
        let Ok(date) = DateTime::from_str(date, DateTimeFormat::HttpDate) else { return };
        let service = date.secs().saturating_mul(1_000).saturating_add(500);
        let ahead = service.saturating_sub(millis(self.clock.now()));
        let correction = if ahead.abs() > millis(self.tolerance).max(1_000) { ahead } else { 0 };
        self.ahead.store(correction, Ordering::Relaxed);
    }
}

impl Intercept for Corrected {
    fn name(&self) -> &'static str {
        "storagebox clock"
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(date) = context.response().headers().get("date") {
            self.hear(date);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct At(u64);

    impl Clock for At {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0)
        }
    }

    fn after_hearing(machine: u64, date: &str) -> i64 {
        let clock = Corrected::new(Arc::new(At(machine)), Duration::from_secs(1));
        clock.hear(date);
        clock.now().0
    }

    #[test]
    fn a_clock_that_is_off_is_corrected() {
        assert_eq!(after_hearing(1_000, "Thu, 01 Jan 1970 00:10:00 GMT"), 600_500);
        assert_eq!(after_hearing(100, "Thu, 01 Jan 1970 00:10:00 GMT"), 600_500);
    }

    #[test]
    fn a_clock_that_is_within_a_second_is_left_alone() {
        assert_eq!(after_hearing(600, "Thu, 01 Jan 1970 00:10:00 GMT"), 600_000);
        assert_eq!(after_hearing(601, "Thu, 01 Jan 1970 00:10:00 GMT"), 601_000);
    }

    #[test]
    fn a_date_that_cannot_be_read_changes_nothing() {
        assert_eq!(after_hearing(5, "yesterday"), 5_000);
    }

    #[test]
    fn part_of_a_millisecond_counts_as_a_whole_one() {
        assert_eq!(millis(Duration::from_nanos(1)), 1);
        assert_eq!(millis(Duration::from_millis(7)), 7);
        assert_eq!(millis(Duration::MAX), i64::MAX);
    }
}
