//! Checks that every transport must pass.

pub(crate) mod cases;
pub(crate) mod endpoint;

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use storagebox_conformance::Cut;
use storagebox_core::{BoxError, Destination, Dispatcher, async_trait};
use storagebox_transports::Delivery;

pub(crate) const NAME: &str = "orders";

pub(crate) type Deliveries<D> = BoxStream<'static, Result<D, BoxError>>;

/// How long a check waits for a copy before it fails.
const PATIENCE: Duration = Duration::from_secs(300);

/// An empty queue of a transport, with the operations that the checks need.
#[async_trait]
pub(crate) trait Queue: Send + Sync {
    type Delivery: Delivery;

    /// The lease that the queue gives with each message.
    const LEASE: Duration;

    /// Whether the queue answers each acknowledgement, so that a worker notices a lost acknowledgement.
    const CONFIRMS: bool = true;

    /// Returns the destination of the queue's messages.
    fn name(&self) -> Destination {
        NAME.parse().unwrap()
    }

    fn deliveries(&self) -> Deliveries<Self::Delivery>;

    fn dispatcher(&self) -> impl Dispatcher + 'static;

    /// Sends a copy that is not a valid message.
    async fn send_malformed(&self);

    /// Ends the leases of unsettled messages, or does nothing if the leases end soon by themselves.
    async fn lapse(&self) {}

    /// Returns the number of copies that are neither finished nor parked.
    async fn length(&self) -> usize;

    async fn parked(&self) -> usize;

    /// Checks that `length` and `parked` return these numbers.
    async fn holds(&self, length: usize, parked: usize) {
        assert_eq!((self.length().await, self.parked().await), (length, parked));
    }

    async fn redrive(&self);

    /// Makes the proxy cut the connection at the next acknowledgement.
    fn cut_next_ack(&self, cut: Cut);

    async fn was_cut(&self);
}

/// Returns the first copy that a new stream delivers.
pub(crate) async fn take<Q: Queue>(queue: &Q) -> Q::Delivery {
    next(&mut queue.deliveries()).await
}

/// Returns the next copy, and skips the errors of a cut connection.
pub(crate) async fn next<D>(deliveries: &mut Deliveries<D>) -> D {
    let next = async {
        loop {
            if let Some(Ok(copy)) = deliveries.next().await {
                return copy;
            }
        }
    };
    tokio::time::timeout(PATIENCE, next).await.expect("a copy comes")
}

pub(crate) fn id(delivery: &impl Delivery) -> String {
    delivery.received().unwrap().id.as_str().to_owned()
}

/// Creates a test for each named case, or for all cases that every queue must pass. The function `$fresh` returns a
/// queue for each test.
#[macro_export]
macro_rules! checks {
    ($fresh:path, $attribute:tt, $cases:path: $($case:ident)*) => {$(
        #[tokio::test]
        #$attribute
        async fn $case() {
            use $cases as cases;
            cases::$case(&$fresh().await).await;
        }
    )*};
    ($fresh:path, $cases:path: $($case:ident)*) => {
        $crate::checks! { $fresh, [cfg(test)], $cases: $($case)* }
    };
    ($fresh:path) => {
        $crate::checks! { $fresh, [cfg(test)] }
    };
    ($fresh:path, $attribute:tt) => {
        $crate::checks! { $fresh, $attribute, $crate::checks::cases:
            given_back_message_is_delivered_again_at_once
            lost_acknowledgement_leads_to_a_duplicate
            redelivery_out_of_order_takes_effect_once
            duplicates_in_one_batch_take_effect_once
            a_malformed_copy_is_parked
            parked_message_sent_again_takes_effect_once
            worker_killed_during_a_message_loses_no_message
            two_workers_share_a_queue
            stop_finishes_messages_in_progress
            body_of_any_bytes_arrives_unchanged
        }
    };
}
