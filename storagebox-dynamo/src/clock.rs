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
    /// Clocks that differ by less are left alone: the header has whole seconds.
    tolerance: Duration,
}

impl Corrected {
    pub(crate) fn new(clock: Arc<dyn Clock>, tolerance: Duration) -> Self {
        Self { clock, ahead: Arc::default(), tolerance }
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(self.machine().0.saturating_add(self.ahead.load(Ordering::Relaxed)))
    }

    /// Without the correction. What is over is over at the whole millisecond.
    pub(crate) fn machine(&self) -> Millis {
        Millis(i64::try_from(self.clock.now().as_millis()).unwrap_or(i64::MAX))
    }

    /// The end of what begins now and lasts this long: at the next whole millisecond, so that it is not shortened.
    pub(crate) fn end_of(&self, duration: Duration) -> Millis {
        let end = millis(self.clock.now().saturating_add(duration));
        Millis(end.saturating_add(self.ahead.load(Ordering::Relaxed)))
    }

    /// Learns from the `Date` of an answer to a request that was sent then and answered by now. The service's clock
    /// showed that whole second at some moment in between, however long the answer took to arrive; so a clock is wrong
    /// only if it did not show it in all that time.
    fn hear(&self, date: &str, sent: Millis) {
        let Ok(date) = DateTime::from_str(date, DateTimeFormat::HttpDate) else { return };
        let second = date.secs().saturating_mul(1_000);
        let possible = Span {
            from: second.saturating_sub(self.machine().0),
            to: second.saturating_add(SECOND).saturating_sub(sent.0),
        };
        self.ahead.store(self.corrected(possible), Ordering::Relaxed);
    }

    /// What is known stays, as long as the answer allows it: one that took long tells little.
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

/// How far the service may be ahead.
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

/// When the request was sent, by the machine's clock.
#[derive(Clone, Copy, Debug)]
struct Sent(Millis);

impl Storable for Sent {
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
        config.interceptor_state().store_put(Sent(self.machine()));
        Ok(())
    }

    fn read_before_deserialization(
        &self,
        context: &BeforeDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let (Some(date), Some(Sent(sent))) = (context.response().headers().get("date"), config.load::<Sent>()) {
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

    /// A machine's clock, in milliseconds.
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

    /// What a clock shows after an answer of that date, so long after its request was sent.
    fn after_hearing(sent: i64, took: i64, date: &str) -> i64 {
        let (machine, corrected) = Machine::at(sent);
        machine.advance(took);
        corrected.hear(date, Millis(sent));
        corrected.now().0
    }

    #[test]
    fn a_clock_that_is_off_is_corrected() {
        assert_eq!(after_hearing(1_000_000, 0, TEN_MINUTES), 600_500);
        assert_eq!(after_hearing(100_000, 0, TEN_MINUTES), 600_500);
        assert_eq!(after_hearing(100_000, 2_000, TEN_MINUTES), 601_500);
    }

    #[test]
    fn a_clock_that_is_within_a_second_is_left_alone() {
        assert_eq!(after_hearing(600_000, 0, TEN_MINUTES), 600_000);
        assert_eq!(after_hearing(601_000, 0, TEN_MINUTES), 601_000);
    }

    /// The date was right when it was written, at the beginning, in the middle or at the end of the way.
    #[test]
    fn a_clock_that_is_right_is_left_alone_however_late_the_answer() {
        for sent in [597_200, 598_700, 600_000, 600_900] {
            assert_eq!(after_hearing(sent, 2_800, TEN_MINUTES), sent + 2_800, "sent at {sent}");
        }
        assert_eq!(after_hearing(600_000, 3_600_000, TEN_MINUTES), 4_200_000);
    }

    #[test]
    fn a_late_answer_does_not_undo_a_correction() {
        let (machine, corrected) = Machine::at(590_000);
        corrected.hear(TEN_MINUTES, corrected.machine());
        let sent = corrected.machine();
        machine.advance(30_000);
        corrected.hear("Thu, 01 Jan 1970 00:10:20 GMT", sent);
        assert_eq!(corrected.now(), Millis(630_500));
    }

    #[test]
    fn a_clock_that_was_set_right_needs_no_correction() {
        let (machine, corrected) = Machine::at(590_000);
        corrected.hear(TEN_MINUTES, corrected.machine());
        machine.advance(10_000);
        corrected.hear(TEN_MINUTES, corrected.machine());
        assert_eq!(corrected.now(), Millis(600_000));
    }

    #[test]
    fn a_date_that_cannot_be_read_changes_nothing() {
        assert_eq!(after_hearing(5_000, 0, "yesterday"), 5_000);
    }

    /// Writes the time into its answer, which arrives after this time.
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
    async fn a_slow_answer_to_the_driver_moves_no_clock_that_is_right() {
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
    fn part_of_a_millisecond_counts_as_a_whole_one() {
        assert_eq!(millis(Duration::from_nanos(1)), 1);
        assert_eq!(millis(Duration::from_millis(7)), 7);
        assert_eq!(millis(Duration::MAX), i64::MAX);
    }
}
