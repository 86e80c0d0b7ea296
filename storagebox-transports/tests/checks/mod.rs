//! Checks that every transport must pass.

pub(crate) mod cases;
pub(crate) mod endpoint;

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use storagebox_conformance::Cut;
use storagebox_core::{BoxError, Destination, Dispatcher, async_trait};
use storagebox_transports::Delivery;

/// The default name of a queue.
pub(crate) const NAME: &str = "orders";

pub(crate) type Deliveries<D> = BoxStream<'static, Result<D, BoxError>>;

/// The longest time that a check waits for a copy before it fails.
const PATIENCE: Duration = Duration::from_secs(300);

/// An empty queue of a transport, and what the checks need to use it.
#[async_trait]
pub(crate) trait Queue: Send + Sync {
    type Delivery: Delivery;

    /// The lease of a message that the queue has handed out.
    const LEASE: Duration;

    /// Whether a worker notices that an acknowledgement was lost, because the queue answers each acknowledgement.
    const CONFIRMS: bool = true;

    /// Returns the destination of the queue's messages.
    fn name(&self) -> Destination {
        NAME.parse().unwrap()
    }

    /// Returns a stream of deliveries for a worker.
    fn deliveries(&self) -> Deliveries<Self::Delivery>;

    /// Returns a dispatcher that sends to the queue.
    fn dispatcher(&self) -> impl Dispatcher + 'static;

    /// Sends a copy that is not a valid message.
    async fn send_malformed(&self);

    /// Ends the leases of unsettled messages. Does nothing if they end soon without this call.
    async fn lapse(&self) {}

    /// Returns the number of copies that are neither finished nor parked.
    async fn length(&self) -> usize;

    /// Returns the number of parked copies.
    async fn parked(&self) -> usize;

    /// Checks the number of copies that are neither finished nor parked, and the number of parked copies.
    async fn holds(&self, length: usize, parked: usize) {
        assert_eq!((self.length().await, self.parked().await), (length, parked));
    }

    /// Sends the parked copies again.
    async fn redrive(&self);

    /// Makes the proxy cut the connection at the next acknowledgement.
    fn cut_next_ack(&self, cut: Cut);

    /// Waits until the proxy has cut the connection.
    async fn was_cut(&self);
}

/// Receives the next copy on a new stream.
pub(crate) async fn take<Q: Queue>(queue: &Q) -> Q::Delivery {
    next(&mut queue.deliveries()).await
}

/// Returns the next copy. Skips errors, because the connection may have been cut.
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

/// Creates one test for each case that every queue must pass, or for each named case. Each test gets a queue from
/// `$fresh`.
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
