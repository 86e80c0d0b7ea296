//! The cases of a queue whose leases a test can make older. Each case gets an empty queue.

mod watched;

use std::time::Duration;

use storagebox_core::async_trait;
use storagebox_transports::{Delivery, Settle};

use crate::checks::cases::{ack, only_a_new_one_comes};
use crate::checks::endpoint::{Endpoint, options};
use crate::checks::{Queue, id, take};

use watched::Extensions;

/// The lease of the messages, which is longer than any test.
pub(crate) const LEASE: Duration = Duration::from_secs(3600);
const PART: Duration = Duration::from_secs(2400);

#[async_trait]
pub(crate) trait Aged: Queue {
    /// Makes each lease and each pause end earlier by `by`.
    async fn age(&self, by: Duration);
}

pub(crate) async fn message_is_delivered_again_after_its_lease_ends<Q: Aged>(queue: &Q) {
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

pub(crate) async fn stale_receipt_does_not_affect_the_new_owner<Q: Aged>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    let stale = take(queue).await;
    queue.age(LEASE).await;
    let owner = take(queue).await;
    // The queue may return an error or not.
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

pub(crate) async fn retry_is_delivered_only_after_its_pause<Q: Aged>(queue: &Q) {
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

pub(crate) async fn leases_of_waiting_messages_are_extended<Q: Aged>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let extensions = Extensions::default();
    let often = options::<Q>().lease(Duration::from_millis(900)).unwrap().prefetch(1).concurrency(1);
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

/// Creates a test for each case of this module. The function `$fresh` returns a queue for each test.
#[macro_export]
macro_rules! leases {
    ($fresh:path) => {
        $crate::checks! { $fresh, $crate::leases:
            message_is_delivered_again_after_its_lease_ends
            an_extended_lease_does_not_end
            stale_receipt_does_not_affect_the_new_owner
            retry_is_delivered_only_after_its_pause
            leases_of_waiting_messages_are_extended
        }
    };
}
