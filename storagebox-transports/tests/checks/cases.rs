//! The cases. Each gets an empty queue.

use std::time::Duration;

use storagebox_conformance::Cut;
use storagebox_core::{Destination, Dispatcher, Outgoing, Payload};
use storagebox_transports::{Consumed, Delivery, Settle, consume};

use super::endpoint::{Endpoint, Seen, entity_of, options};
use super::watched::Extensions;
use super::{LEASE, NAME, Queue, take};

const PART: Duration = Duration::from_secs(2400);

fn id<D: Delivery>(delivery: &D) -> String {
    delivery.received().unwrap().id.as_str().to_owned()
}

async fn ack<D: Delivery>(delivery: D) {
    delivery.settle(Settle::Ack).await.unwrap();
}

/// Sends another message and takes it: nothing older is to be had.
async fn only_a_new_one_comes<Q: Queue>(queue: &Q, endpoint: &Endpoint, op: &str) {
    endpoint.send(op, op).await;
    let delivery = take(queue).await;
    assert_eq!(id(&delivery), format!("{op}-0"));
    ack(delivery).await;
}

pub(crate) async fn a_lease_that_ends_hands_the_message_out_again<Q: Queue>(queue: &Q) {
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
    assert_eq!(queue.length().await, 0);
}

pub(crate) async fn an_extended_lease_does_not_end<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    let slow = take(queue).await;
    for op in ["b", "c", "d"] {
        queue.age(PART).await;
        slow.extend(LEASE).await.unwrap();
        only_a_new_one_comes(queue, &endpoint, op).await;
    }
    ack(slow).await;
    assert_eq!(queue.length().await, 0);
}

pub(crate) async fn a_stale_receipt_changes_nothing_of_the_new_owner<Q: Queue>(queue: &Q) {
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
    assert_eq!(queue.length().await, 1);
    ack(next).await;
    assert_eq!(queue.length().await, 0);
}

pub(crate) async fn a_retry_comes_after_its_pause_and_not_before<Q: Queue>(queue: &Q) {
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
    assert_eq!(queue.length().await, 0);
}

pub(crate) async fn a_message_given_back_comes_at_once<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    take(queue).await.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    let again = take(queue).await;
    assert_eq!(id(&again), "a-0");
    ack(again).await;
}

pub(crate) async fn a_lost_acknowledgement_makes_a_duplicate<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    queue.cut_next_ack(Cut::RequestLost);
    let (consumed, _) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, consumed.failed_settles), (1, 1));
    queue.was_cut().await;
    assert_eq!(queue.length().await, 1);
    queue.age(LEASE).await;
    let (consumed, seen) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.duplicates, seen), (1, vec!["a-0: Duplicate { cleaned: false }".to_owned()]));
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (0, 1));
}

pub(crate) async fn an_acknowledgement_whose_answer_is_lost_is_made<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    queue.cut_next_ack(Cut::ReplyLost);
    let (consumed, _) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, consumed.failed_settles), (1, 1));
    queue.was_cut().await;
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (0, 1));
}

pub(crate) async fn messages_that_wait_are_extended<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let extensions = Extensions::default();
    let often = options().lease(Duration::from_millis(900)).prefetch(1).concurrency(1);
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

pub(crate) async fn redelivery_out_of_order_takes_effect_once<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let first = take(queue).await;
    let second = take(queue).await;
    // The younger one is back before the older one.
    second.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    let (consumed, seen) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, seen.len()), (1, 1));
    assert_eq!(seen[0], format!("{}: Processed {{ sent: 0 }}", id(&second)));
    first.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    assert_eq!(endpoint.consume(queue, 1).await.0.processed, 1);
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (0, 2));
}

pub(crate) async fn duplicates_in_one_batch_take_effect_once<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    for _ in 0..3 {
        endpoint.send("a", "entity").await;
    }
    let test = async {
        endpoint.handler.has_begun(1).await;
        endpoint.handler.let_pass(3);
    };
    let ((consumed, _), ()) = tokio::join!(endpoint.consume(queue, 3), test);
    assert_eq!((consumed.processed, consumed.duplicates, consumed.failed_settles), (1, 2, 0));
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (0, 1));
}

pub(crate) async fn a_malformed_copy_is_parked<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    queue.send_malformed().await;
    endpoint.send("a", "entity").await;
    let (consumed, _) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, consumed.parked), (1, 1));
    assert_eq!((queue.length().await, queue.parked().await), (0, 1));
    // Sent again, it is as malformed as before.
    queue.redrive().await;
    assert_eq!((queue.length().await, queue.parked().await), (1, 0));
    assert!(take(queue).await.received().is_err());
}

pub(crate) async fn a_parked_message_that_is_sent_again_takes_effect_once<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    take(queue).await.settle(Settle::Park).await.unwrap();
    assert_eq!((queue.length().await, queue.parked().await), (0, 1));
    only_a_new_one_comes(queue, &endpoint, "b").await;
    queue.redrive().await;
    assert_eq!((queue.length().await, queue.parked().await), (1, 0));
    // Another copy was never parked.
    endpoint.send("a", "entity").await;
    let (consumed, _) = endpoint.consume(queue, 2).await;
    assert_eq!((consumed.processed, consumed.duplicates), (1, 1));
    assert!(endpoint.is_over("a").await);
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (0, 1));
}

pub(crate) async fn a_worker_that_is_killed_in_the_middle_loses_nothing<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    tokio::select! {
        _ = endpoint.consume(queue, 2) => unreachable!("the handler hangs"),
        () = endpoint.handler.has_begun(1) => {}
    }
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (2, 0));
    queue.age(LEASE).await;
    endpoint.handler.let_pass(9);
    let (consumed, _) = endpoint.consume(queue, 2).await;
    assert_eq!(consumed.processed, 2);
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (0, 2));
}

pub(crate) async fn two_workers_share_a_queue<Q: Queue>(queue: &Q) {
    const MESSAGES: usize = 20;
    let endpoint = Endpoint::new(queue);
    for number in 0..MESSAGES {
        let op = format!("op{number}");
        endpoint.send(&op, &format!("entity {}", number % 3)).await;
        endpoint.send(&op, &format!("entity {}", number % 3)).await;
    }
    let seen = Seen::default();
    let worker = || {
        let options = options().observe(seen.observer()).until(seen.clone().has(2 * MESSAGES));
        consume(queue.deliveries(), entity_of, &endpoint.processor, options)
    };
    let (one, other) = tokio::join!(worker(), worker());
    assert_eq!(one.processed + other.processed, MESSAGES as u64, "{one:?} {other:?}");
    assert_eq!(one.duplicates + other.duplicates, MESSAGES as u64, "{one:?} {other:?}");
    let mut effects = 0;
    for entity in ["entity 0", "entity 1", "entity 2"] {
        effects += endpoint.effects(entity).await;
    }
    assert_eq!((queue.length().await, effects), (0, MESSAGES));
}

pub(crate) async fn a_stop_finishes_what_is_under_way<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async { stopped.await.unwrap_or_default() };
    let options = options().concurrency(1).prefetch(1).until(stopped);
    let consuming = consume(queue.deliveries(), entity_of, &endpoint.processor, options);
    let test = async {
        endpoint.handler.has_begun(1).await;
        drop(stop);
        // What waits, or still lies in the queue, is to be had while the other message is being processed.
        let other = take(queue).await;
        endpoint.handler.let_pass(1);
        ack(other).await;
    };
    let (consumed, ()): (Consumed, _) = tokio::join!(consuming, test);
    assert_eq!((consumed.processed, consumed.failed_settles), (1, 0), "{consumed:?}");
    assert_eq!((queue.length().await, endpoint.effects("entity").await), (0, 1));
}

pub(crate) async fn a_body_of_any_bytes_arrives_as_it_was_sent<Q: Queue>(queue: &Q) {
    let body: Vec<u8> = (0..=255).chain(*b"\r\n$3\r\n\xff\0").collect();
    for body in [body, vec![]] {
        let body = Payload::new(body).unwrap();
        let destination = Destination::new(NAME).unwrap();
        let (id, token) = ("é\u{1F600}".parse().unwrap(), "'; --\\".parse().unwrap());
        let sent = Outgoing { id, token, destination, body };
        queue.dispatcher().dispatch(std::slice::from_ref(&sent)).await.unwrap();
        let delivery = take(queue).await;
        let received = delivery.received().unwrap();
        assert_eq!((&received.id, received.token.as_ref(), &received.body), (&sent.id, Some(&sent.token), &sent.body));
        ack(delivery).await;
    }
}
