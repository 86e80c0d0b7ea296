//! What every transport must do, asked of a queue in the same words.

pub(crate) mod cases;
pub(crate) mod endpoint;

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use storagebox_conformance::Cut;
use storagebox_core::{BoxError, Destination, Dispatcher, async_trait};
use storagebox_transports::Delivery;

/// Where the messages of a check are sent if the queue has a place of its own.
pub(crate) const NAME: &str = "orders";

pub(crate) type Deliveries<D> = BoxStream<'static, Result<D, BoxError>>;

/// A copy that has not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(300);

/// An empty queue of a transport, with the parts that tests need.
#[async_trait]
pub(crate) trait Queue: Send + Sync {
    type Delivery: Delivery;

    /// For how long it hands a message out.
    const LEASE: Duration;

    /// Whether it answers an acknowledgement.
    const CONFIRMS: bool = true;

    /// Where its messages are sent.
    fn name(&self) -> Destination {
        NAME.parse().unwrap()
    }

    /// What a worker reads.
    fn deliveries(&self) -> Deliveries<Self::Delivery>;

    /// What sends to it.
    fn dispatcher(&self) -> impl Dispatcher + 'static;

    /// Sends a copy that is no message of storagebox.
    async fn send_malformed(&self);

    /// Sees to it that what no worker holds any more comes again, sooner or later.
    async fn lapse(&self) {}

    /// How many copies are not over, parked ones left out.
    async fn length(&self) -> usize;

    /// How many copies are parked.
    async fn parked(&self) -> usize;

    /// Demands that so many copies are not over and so many are parked.
    async fn holds(&self, length: usize, parked: usize) {
        assert_eq!((self.length().await, self.parked().await), (length, parked));
    }

    /// Sends the parked copies again.
    async fn redrive(&self);

    /// Cuts the connection of the next acknowledgement.
    fn cut_next_ack(&self, cut: Cut);

    /// Waits until the acknowledgement was cut.
    async fn was_cut(&self);
}

/// The next copy, as another worker would take it.
pub(crate) async fn take<Q: Queue>(queue: &Q) -> Q::Delivery {
    next(&mut queue.deliveries()).await
}

/// The next copy, whatever errors come before it: the connection may have been cut.
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

/// Makes a test of each case that every queue must pass, or of those that are named, with a queue of its own that
/// `$fresh` makes.
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
            a_message_given_back_comes_at_once
            a_lost_acknowledgement_makes_a_duplicate
            redelivery_out_of_order_takes_effect_once
            duplicates_in_one_batch_take_effect_once
            a_malformed_copy_is_parked
            a_parked_message_that_is_sent_again_takes_effect_once
            a_worker_that_is_killed_in_the_middle_loses_nothing
            two_workers_share_a_queue
            a_stop_finishes_what_is_under_way
            a_body_of_any_bytes_arrives_as_it_was_sent
        }
    };
}
