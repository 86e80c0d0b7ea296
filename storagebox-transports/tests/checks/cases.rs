//! The cases that every queue must pass. Each case gets an empty queue.

use std::time::Duration;

use storagebox_conformance::Cut;
use storagebox_core::{Dispatcher, Outgoing, Payload};
use storagebox_transports::{Consumed, Delivery, Settle, consume};

use super::endpoint::{Endpoint, Seen, entity_of, options};
use super::{Queue, id, take};

pub(crate) async fn ack<D: Delivery>(delivery: D) {
    delivery.settle(Settle::Ack).await.unwrap();
}

/// Sends a message, which must be the next delivery of the queue.
pub(crate) async fn only_a_new_one_comes<Q: Queue>(queue: &Q, endpoint: &Endpoint, op: &str) {
    endpoint.send(op, op).await;
    let delivery = take(queue).await;
    assert_eq!(id(&delivery), format!("{op}-0"));
    ack(delivery).await;
}

pub(crate) async fn given_back_message_is_delivered_again_at_once<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    take(queue).await.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    let again = take(queue).await;
    assert_eq!(id(&again), "a-0");
    ack(again).await;
}

pub(crate) async fn lost_acknowledgement_leads_to_a_duplicate<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    queue.cut_next_ack(Cut::RequestLost);
    let (consumed, _) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, consumed.failed_settles), (1, u64::from(Q::CONFIRMS)));
    queue.was_cut().await;
    queue.holds(1, 0).await;
    queue.lapse().await;
    let (consumed, seen) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.duplicates, seen), (1, vec!["a-0: Duplicate { cleaned: false }".to_owned()]));
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 1);
}

#[allow(dead_code, reason = "a queue that confirms no acknowledgement has no answer to lose")]
pub(crate) async fn acknowledgement_with_a_lost_answer_takes_effect<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    queue.cut_next_ack(Cut::ReplyLost);
    let (consumed, _) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, consumed.failed_settles), (1, 1));
    queue.was_cut().await;
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 1);
}

pub(crate) async fn redelivery_out_of_order_takes_effect_once<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let first = take(queue).await;
    let second = take(queue).await;
    // The second message is available again before the first.
    second.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    let (consumed, seen) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, seen.len()), (1, 1));
    assert_eq!(seen[0], format!("{}: Processed {{ sent: 0 }}", id(&second)));
    first.settle(Settle::Retry { after: Duration::ZERO }).await.unwrap();
    assert_eq!(endpoint.consume(queue, 1).await.0.processed, 1);
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 2);
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
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 1);
}

pub(crate) async fn a_malformed_copy_is_parked<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    queue.send_malformed().await;
    endpoint.send("a", "entity").await;
    let (consumed, _) = endpoint.consume(queue, 1).await;
    assert_eq!((consumed.processed, consumed.parked), (1, 1));
    queue.holds(0, 1).await;
    // After the redrive, the copy is still malformed.
    queue.redrive().await;
    queue.holds(1, 0).await;
    assert!(take(queue).await.received().is_err());
}

pub(crate) async fn parked_message_sent_again_takes_effect_once<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::new(queue);
    endpoint.send("a", "entity").await;
    take(queue).await.settle(Settle::Park).await.unwrap();
    queue.holds(0, 1).await;
    only_a_new_one_comes(queue, &endpoint, "b").await;
    queue.redrive().await;
    queue.holds(1, 0).await;
    // This second copy of the message was never parked.
    endpoint.send("a", "entity").await;
    let (consumed, _) = endpoint.consume(queue, 2).await;
    assert_eq!((consumed.processed, consumed.duplicates), (1, 1));
    assert!(endpoint.is_over("a").await);
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 1);
}

pub(crate) async fn worker_killed_during_a_message_loses_no_message<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    tokio::select! {
        _ = endpoint.consume(queue, 2) => unreachable!("the handler hangs"),
        () = endpoint.handler.has_begun(1) => {}
    }
    queue.holds(2, 0).await;
    assert_eq!(endpoint.effects("entity").await, 0);
    queue.lapse().await;
    endpoint.handler.let_pass(9);
    let (consumed, _) = endpoint.consume(queue, 2).await;
    assert_eq!(consumed.processed, 2);
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 2);
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
        let options = options::<Q>().observe(seen.observer()).until(seen.clone().has(2 * MESSAGES));
        consume(queue.deliveries(), entity_of, &endpoint.processor, options)
    };
    let (one, other) = tokio::join!(worker(), worker());
    assert_eq!(one.processed + other.processed, MESSAGES as u64, "{one:?} {other:?}");
    assert_eq!(one.duplicates + other.duplicates, MESSAGES as u64, "{one:?} {other:?}");
    let mut effects = 0;
    for entity in ["entity 0", "entity 1", "entity 2"] {
        effects += endpoint.effects(entity).await;
    }
    queue.holds(0, 0).await;
    assert_eq!(effects, MESSAGES);
}

pub(crate) async fn stop_finishes_messages_in_progress<Q: Queue>(queue: &Q) {
    let endpoint = Endpoint::held(queue);
    endpoint.send("a", "entity").await;
    endpoint.send("b", "entity").await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async { stopped.await.unwrap_or_default() };
    let options = options::<Q>().concurrency(1).prefetch(1).until(stopped);
    let consuming = consume(queue.deliveries(), entity_of, &endpoint.processor, options);
    let test = async {
        endpoint.handler.has_begun(1).await;
        drop(stop);
        // The other message is available while the first is being processed, whether the loop had taken it or not.
        let other = take(queue).await;
        endpoint.handler.let_pass(1);
        ack(other).await;
    };
    let (consumed, ()): (Consumed, _) = tokio::join!(consuming, test);
    assert_eq!((consumed.processed, consumed.failed_settles), (1, 0), "{consumed:?}");
    queue.holds(0, 0).await;
    assert_eq!(endpoint.effects("entity").await, 1);
}

pub(crate) async fn body_of_any_bytes_arrives_unchanged<Q: Queue>(queue: &Q) {
    let body: Vec<u8> = (0..=255).chain(*b"\r\n$3\r\n\xff\0").collect();
    for body in [body, vec![]] {
        let body = Payload::new(body).unwrap();
        let destination = queue.name();
        let (id, token) = ("é\u{1F600}".parse().unwrap(), "'; --\\".parse().unwrap());
        let sent = Outgoing { id, token, destination, body };
        queue.dispatcher().dispatch(std::slice::from_ref(&sent)).await.unwrap();
        let delivery = take(queue).await;
        let received = delivery.received().unwrap();
        assert_eq!((&received.id, received.token.as_ref(), &received.body), (&sent.id, Some(&sent.token), &sent.body));
        ack(delivery).await;
    }
}
