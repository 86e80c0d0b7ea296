//! What every transport must do, asked of a queue in the same words.

pub(crate) mod cases;
pub(crate) mod endpoint;
mod watched;

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use storagebox_conformance::Cut;
use storagebox_core::{BoxError, Dispatcher, async_trait};
use storagebox_transports::Delivery;

/// For how long a queue of these checks hands a message out. No check waits for it: they make what is handed out older.
pub(crate) const LEASE: Duration = Duration::from_secs(3600);

/// Where the messages of a check are sent.
pub(crate) const NAME: &str = "orders";

pub(crate) type Deliveries<D> = BoxStream<'static, Result<D, BoxError>>;

/// An empty queue of a transport, with the parts that tests need.
#[async_trait]
pub(crate) trait Queue: Send + Sync {
    type Delivery: Delivery;

    /// What a worker reads.
    fn deliveries(&self) -> Deliveries<Self::Delivery>;

    /// What sends to it.
    fn dispatcher(&self) -> impl Dispatcher + 'static;

    /// Sends a copy that is no message of storagebox.
    async fn send_malformed(&self);

    /// Makes every lease and every pause so much older.
    async fn age(&self, by: Duration);

    /// How many copies are not over, parked ones left out.
    async fn length(&self) -> usize;

    /// How many copies are parked.
    async fn parked(&self) -> usize;

    /// Sends the parked copies again.
    async fn redrive(&self);

    /// Cuts the connection of the next acknowledgement.
    fn cut_next_ack(&self, cut: Cut);

    /// Waits until the acknowledgement was cut.
    async fn was_cut(&self);
}

/// The next copy, as another worker would take it.
pub(crate) async fn take<Q: Queue>(queue: &Q) -> Q::Delivery {
    let mut deliveries = queue.deliveries();
    loop {
        // An error is no answer: the connection may have been cut.
        if let Some(Ok(delivery)) = deliveries.next().await {
            return delivery;
        }
    }
}

/// Makes a test of each case, with a queue of its own that `$fresh` makes.
#[macro_export]
macro_rules! checks {
    ($fresh:path: $($case:ident)*) => {$(
        #[tokio::test]
        async fn $case() {
            $crate::checks::cases::$case(&$fresh().await).await;
        }
    )*};
    ($fresh:path) => {
        $crate::checks! { $fresh:
            a_lease_that_ends_hands_the_message_out_again
            an_extended_lease_does_not_end
            a_stale_receipt_changes_nothing_of_the_new_owner
            a_retry_comes_after_its_pause_and_not_before
            a_message_given_back_comes_at_once
            a_lost_acknowledgement_makes_a_duplicate
            an_acknowledgement_whose_answer_is_lost_is_made
            messages_that_wait_are_extended
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
