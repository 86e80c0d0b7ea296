//! The clock that decides every expiry: the machine's clock, corrected by the `Date` of the service's replies.
//!
//! DynamoDB's conditions cannot read a clock. So each client uses its own, and every expiry leaves room for two clocks
//! that differ by `max_skew`. Which claim holds an item and which fence is the newest never depends on a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::primitives::{DateTime, DateTimeFormat};
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextRef,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use storagebox_core::Clock;
use storagebox_core::backend::rules::StoredTime;

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
}

impl StoredTime for Millis {
    fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0).max(0).unsigned_abs())
    }
}

/// Returns the whole milliseconds of a duration, rounded up so that nothing lasts shorter than requested.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// The machine's clock, corrected by the dates of the service's replies.
#[derive(Clone, Debug)]
pub(crate) struct Corrected {
    clock: Arc<dyn Clock>,
    /// By how many milliseconds the service's clock is ahead of the machine's clock.
    ahead: Arc<AtomicI64>,
    /// The smallest clock difference that is corrected. The `Date` header shows only whole seconds.
    tolerance: Duration,
}

impl Corrected {
    pub(crate) fn new(clock: Arc<dyn Clock>, tolerance: Duration) -> Self {
        Self { clock, ahead: Arc::default(), tolerance }
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(self.machine().0.saturating_add(self.ahead.load(Ordering::Relaxed)))
    }

    /// Returns the time without the correction, rounded down.
    pub(crate) fn machine(&self) -> Millis {
        Millis(i64::try_from(self.clock.now().as_millis()).unwrap_or(i64::MAX))
    }

    /// Returns the end of a duration that begins now, rounded up so that the duration is not shortened.
    pub(crate) fn end_of(&self, duration: Duration) -> Millis {
        let end = millis(self.clock.now().saturating_add(duration));
        Millis(end.saturating_add(self.ahead.load(Ordering::Relaxed)))
    }

    /// Corrects the clock by the `Date` header of a reply. The request was sent at `sent`.
    fn hear(&self, date: &str, sent: Millis) {
        let Ok(date) = DateTime::from_str(date, DateTimeFormat::HttpDate) else { return };
        let second = date.secs().saturating_mul(1_000);
        // The service's clock showed this date at some moment between `sent` and now.
        let possible = Span {
            from: second.saturating_sub(self.machine().0),
            to: second.saturating_add(SECOND).saturating_sub(sent.0),
        };
        self.ahead.store(self.corrected(possible), Ordering::Relaxed);
    }

    /// Returns the new correction: the current correction or 0 if `possible` allows it within the tolerance, and
    /// otherwise the middle of `possible`.
    fn corrected(&self, possible: Span) -> i64 {
        let known = self.ahead.load(Ordering::Relaxed);
        let allowed = possible.wider_by(millis(self.tolerance).max(SECOND) - SECOND / 2);
        match [known, 0].into_iter().find(|ahead| allowed.has(*ahead)) {
            Some(ahead) => ahead,
            None => possible.middle(),
        }
    }
}

const SECOND: i64 = 1_000;

/// A range of milliseconds by which the service's clock may be ahead of the machine's clock.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: i64,
    to: i64,
}

impl Span {
    fn wider_by(self, much: i64) -> Self {
        Self { from: self.from.saturating_sub(much), to: self.to.saturating_add(much) }
    }

    fn has(self, ahead: i64) -> bool {
        (self.from..=self.to).contains(&ahead)
    }

    fn middle(self) -> i64 {
        self.from.saturating_add(self.to.saturating_sub(self.from) / 2)
    }
}

#[derive(Clone, Copy, Debug)]
struct SentAt(Millis);

impl Storable for SentAt {
    type Storer = StoreReplace<Self>;
}

impl Intercept for Corrected {
    fn name(&self) -> &'static str {
        "storagebox clock"
    }

    fn read_before_transmit(
        &self,
        _context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        config.interceptor_state().store_put(SentAt(self.machine()));
        Ok(())
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let (Some(date), Some(SentAt(sent))) = (context.response().headers().get("date"), config.load::<SentAt>()) {
            self.hear(date, *sent);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
    use aws_sdk_dynamodb::{Client, Config};
    use aws_smithy_runtime_api::client::http::{
        HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
    };
    use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
    use aws_smithy_types::body::SdkBody;
    use http::StatusCode;

    use super::*;

    const TEN_MINUTES: &str = "Thu, 01 Jan 1970 00:10:00 GMT";

    /// The time of a machine's clock, in milliseconds.
    #[derive(Clone, Debug)]
    struct Machine(Arc<AtomicI64>);

    impl Machine {
        fn at(millis: i64) -> (Self, Corrected) {
            let machine = Self(Arc::new(AtomicI64::new(millis)));
            (machine.clone(), Corrected::new(Arc::new(machine), Duration::from_secs(1)))
        }

        fn advance(&self, millis: i64) {
            self.0.fetch_add(millis, Ordering::Relaxed);
        }
    }

    impl Clock for Machine {
        fn now(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::Relaxed).unsigned_abs())
        }
    }

    /// Returns the time that the corrected clock shows after a reply with this date, which took `took` milliseconds.
    fn after_hearing(sent: i64, took: i64, date: &str) -> i64 {
        let (machine, corrected) = Machine::at(sent);
        machine.advance(took);
        corrected.hear(date, Millis(sent));
        corrected.now().0
    }

    #[test]
    fn a_wrong_clock_is_corrected() {
        assert_eq!(after_hearing(1_000_000, 0, TEN_MINUTES), 600_500);
        assert_eq!(after_hearing(100_000, 0, TEN_MINUTES), 600_500);
        assert_eq!(after_hearing(100_000, 2_000, TEN_MINUTES), 601_500);
    }

    #[test]
    fn a_clock_at_most_a_second_wrong_is_not_corrected() {
        assert_eq!(after_hearing(600_000, 0, TEN_MINUTES), 600_000);
        assert_eq!(after_hearing(601_000, 0, TEN_MINUTES), 601_000);
    }

    /// The service may have written the date at any moment between the request and the reply.
    #[test]
    fn a_late_reply_does_not_change_a_correct_clock() {
        for sent in [597_200, 598_700, 600_000, 600_900] {
            assert_eq!(after_hearing(sent, 2_800, TEN_MINUTES), sent + 2_800, "sent at {sent}");
        }
        assert_eq!(after_hearing(600_000, 3_600_000, TEN_MINUTES), 4_200_000);
    }

    #[test]
    fn a_late_reply_does_not_undo_a_correction() {
        let (machine, corrected) = Machine::at(590_000);
        corrected.hear(TEN_MINUTES, corrected.machine());
        let sent = corrected.machine();
        machine.advance(30_000);
        corrected.hear("Thu, 01 Jan 1970 00:10:20 GMT", sent);
        assert_eq!(corrected.now(), Millis(630_500));
    }

    #[test]
    fn the_correction_ends_after_the_machine_clock_is_set_right() {
        let (machine, corrected) = Machine::at(590_000);
        corrected.hear(TEN_MINUTES, corrected.machine());
        machine.advance(10_000);
        corrected.hear(TEN_MINUTES, corrected.machine());
        assert_eq!(corrected.now(), Millis(600_000));
    }

    #[test]
    fn an_unreadable_date_does_not_correct_the_clock() {
        assert_eq!(after_hearing(5_000, 0, "yesterday"), 5_000);
    }

    /// A server that writes the time into its reply and delays the reply.
    #[derive(Clone, Debug)]
    struct Slow(Machine, i64);

    impl HttpConnector for Slow {
        fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
            let date = DateTime::from_secs(self.0.now().as_secs() as i64).fmt(DateTimeFormat::HttpDate);
            self.0.advance(self.1);
            let mut answer = HttpResponse::new(StatusCode::OK.into(), SdkBody::from("{}"));
            answer.headers_mut().insert("date", date.unwrap());
            HttpConnectorFuture::ready(Ok(answer))
        }
    }

    #[tokio::test]
    async fn a_slow_reply_to_the_driver_does_not_change_a_correct_clock() {
        let (machine, corrected) = Machine::at(1_700_000_000_250);
        let slow = Slow(machine, 2_800);
        let http = http_client_fn(move |_, _| SharedHttpConnector::new(slow.clone()));
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-west-1"))
            .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
            .interceptor(corrected.clone())
            .http_client(http);
        Client::from_conf(config.build()).list_tables().send().await.unwrap();
        assert_eq!(corrected.now(), Millis(1_700_000_003_050));
    }

    #[test]
    fn a_part_of_a_millisecond_is_rounded_up() {
        assert_eq!(millis(Duration::from_nanos(1)), 1);
        assert_eq!(millis(Duration::from_millis(7)), 7);
        assert_eq!(millis(Duration::MAX), i64::MAX);
    }
}
