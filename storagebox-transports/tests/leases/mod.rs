//! The cases of a queue whose leases a test can make older. Each gets an empty queue.

mod watched;

use std::time::Duration;

use storagebox_core::async_trait;
use storagebox_transports::{Delivery, Settle};

use crate::checks::cases::{ack, only_a_new_one_comes};
use crate::checks::endpoint::{Endpoint, options};
use crate::checks::{Queue, id, take};

use watched::Extensions;

/// For how long such a queue hands a message out. No check waits for it: they make what is handed out older.
pub(crate) const LEASE: Duration = Duration::from_secs(3600);
const PART: Duration = Duration::from_secs(2400);

/// A queue whose time a test makes.
#[async_trait]
pub(crate) trait Aged: Queue {
    /// Makes every lease and every pause so much older.
    async fn age(&self, by: Duration);
}

pub(crate) async fn a_lease_that_ends_hands_the_message_out_again<Q: Aged>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    let first = take(queue).await;
    assert_eq!((id(&first), first.attempt()), ("a-0".to_owned(), 1));
    only_a_new_one_comes(queue, &endpoint, "b").await;
    queue.age(LEASE).await;
    let second = take(queue).await;
    assert_eq!((id(&second), second.attempt()), ("a-0".to_owned(), 2));
    assert_eq!(first.received(), second.received());
    ack(second).await;
    queue.holds(0, 0).await;
}

pub(crate) async fn an_extended_lease_does_not_end<Q: Aged>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    let slow = take(queue).await;
    for op in ["b", "c", "d"] {
        queue.age(PART).await;
        slow.extend(LEASE).await.unwrap();
        only_a_new_one_comes(queue, &endpoint, op).await;
    }
    ack(slow).await;
    queue.holds(0, 0).await;
}

pub(crate) async fn a_stale_receipt_changes_nothing_of_the_new_owner<Q: Aged>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    let stale = take(queue).await;
    queue.age(LEASE).await;
    let owner = take(queue).await;
    // Whether the queue says so is its affair.
    for settle in [Settle::Ack, Settle::Park, Settle::Retry { after: Duration::ZERO }] {
        let _ = stale.settle(settle).await;
        assert_eq!((queue.length().await, queue.parked().await), (1, 0), "{settle:?}");
    }
    only_a_new_one_comes(queue, &endpoint, "b").await;
    queue.age(PART).await;
    let _ = stale.extend(LEASE).await;
    queue.age(PART).await;
    let next = take(queue).await;
    assert_eq!(id(&next), "a-0", "a stale extension must not hold it");
    let _ = owner.settle(Settle::Ack).await;
    queue.holds(1, 0).await;
    ack(next).await;
    queue.holds(0, 0).await;
}

pub(crate) async fn a_retry_comes_after_its_pause_and_not_before<Q: Aged>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    let failed = take(queue).await;
    failed.settle(Settle::Retry { after: 3 * LEASE }).await.unwrap();
    let _ = failed.extend(LEASE).await;
    only_a_new_one_comes(queue, &endpoint, "b").await;
    queue.age(LEASE + PART).await;
    only_a_new_one_comes(queue, &endpoint, "c").await;
    queue.age(2 * LEASE).await;
    let again = take(queue).await;
    assert_eq!((id(&again), again.attempt()), ("a-0".to_owned(), 2));
    ack(again).await;
    queue.holds(0, 0).await;
}

pub(crate) async fn messages_that_wait_are_extended<Q: Aged>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let extensions = Extensions::default();
    let often = options::<Q>().lease(Duration::from_millis(900)).prefetch(1).concurrency(1);
    let test = async {
        for op in ["c", "d"] {
            extensions.happen(2).await;
            queue.age(PART).await;
            extensions.happen(2).await;
            only_a_new_one_comes(queue, &endpoint, op).await;
        }
        endpoint.handler.let_pass(2);
    };
    let consuming = endpoint.consume_from(extensions.of(queue), 2, often);
    let ((consumed, _), ()) = tokio::join!(consuming, test);
    assert_eq!(consumed.processed, 2);
    assert_eq!((endpoint.handler.runs(), endpoint.effects("entity").await), (2, 2));
}

/// Makes a test of each case, with a queue of its own that `$fresh` makes.
#[macro_export]
macro_rules! leases {
    ($fresh:path) => {
        $crate::checks! { $fresh, $crate::leases:
            a_lease_that_ends_hands_the_message_out_again
            an_extended_lease_does_not_end
            a_stale_receipt_changes_nothing_of_the_new_owner
            a_retry_comes_after_its_pause_and_not_before
            messages_that_wait_are_extended
        }
    };
}
