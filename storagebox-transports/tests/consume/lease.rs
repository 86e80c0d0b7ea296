//! Extensions of leases, from the arrival of a message to its settlement.

use std::time::Duration;

use storagebox_core::{Decision, ErrorKind};
use storagebox_transports::{ConsumeOptions, Settle, consume};

use crate::checks::Queue;
use crate::checks::endpoint::entity_of;
use crate::queue::MemoryQueue;
use crate::shared::{Log, SECOND, first, processor, received, slow, stuck};

fn options() -> ConsumeOptions {
    ConsumeOptions::default().lease(30 * SECOND).unwrap()
}

#[test]
fn lease_that_no_queue_can_give_is_refused() {
    for lease in [Duration::ZERO, Duration::from_micros(999), Duration::MAX] {
        let refused = ConsumeOptions::default().lease(lease).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{lease:?}");
    }
}

fn count(queue: &MemoryQueue, number: u64, call: &'static str) -> usize {
    queue.state().calls.iter().filter(|noted| **noted == (number, call)).count()
}

#[tokio::test(start_paused = true)]
async fn leases_of_waiting_and_stuck_messages_are_extended() {
    let queue = MemoryQueue::default().with_lease(30 * SECOND);
    queue.put(Ok(received("1", "stuck")));
    queue.put(Ok(received("2", "stuck")));
    queue.put(Ok(received("3", "free")));
    let processor = stuck();
    let consuming = consume(queue.deliveries(), entity_of, &processor, options());
    tokio::select! {
        _ = consuming => unreachable!("a handler is stuck"),
        () = tokio::time::sleep(305 * SECOND) => {}
    }
    assert_eq!([1, 2].map(|number| count(&queue, number, "extended")), [30, 30]);
    // The third message is settled, and the others were never delivered again.
    assert_eq!((count(&queue, 3, "extended"), queue.state().settled.clone()), (0, vec![Settle::Ack]));
    assert_eq!(queue.length().await, 2);
}

#[tokio::test(start_paused = true)]
async fn no_extension_is_made_during_or_after_a_settlement() {
    for (takes, expected) in [(0, vec!["settle"]), (12, vec!["extend", "extended", "settle"])] {
        let queue = MemoryQueue::default().with_lease(30 * SECOND);
        queue.state().extending_takes = 5 * SECOND;
        queue.put(Ok(received("1", "a")));
        let processor = processor(move |_| async move {
            tokio::time::sleep(takes * SECOND).await;
            Ok(Decision::keep())
        });
        let consumed = consume(first(&queue, 1), entity_of, &processor, options()).await;
        tokio::time::sleep(100 * SECOND).await;
        let calls: Vec<_> = queue.state().calls.iter().map(|(_, call)| *call).collect();
        assert_eq!((calls, consumed.no_effect, consumed.failed_extensions), (expected, 1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn hanging_extension_does_not_prevent_the_settlement() {
    let queue = MemoryQueue::default().with_lease(30 * SECOND);
    queue.state().extending_takes = 1000 * SECOND;
    queue.put(Ok(received("1", "a")));
    let processor = processor(|_| async {
        tokio::time::sleep(12 * SECOND).await;
        Ok(Decision::keep())
    });
    let consumed = consume(first(&queue, 1), entity_of, &processor, options()).await;
    assert_eq!((consumed.no_effect, consumed.failed_extensions, consumed.failed_settles), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn queue_that_does_not_answer_blocks_an_entity_for_one_lease() {
    let (queue, log) = (MemoryQueue::default().with_lease(3600 * SECOND), Log::default());
    queue.state().never_settles = true;
    queue.put(Ok(received("1", "a")));
    queue.put(Ok(received("2", "a")));
    let consumed = consume(first(&queue, 2), entity_of, &slow(&log), options()).await;
    assert_eq!((consumed.no_effect, consumed.failed_settles), (2, 2));
    assert_eq!(log.take(), ["begin 1", "end 1", "begin 2", "end 2"]);
}

#[tokio::test(start_paused = true)]
async fn failed_extensions_are_counted_and_the_message_is_settled() {
    let queue = MemoryQueue::default().with_lease(3600 * SECOND);
    queue.state().fails_to_extend = true;
    queue.put(Ok(received("1", "a")));
    let processor = processor(|_| async {
        tokio::time::sleep(35 * SECOND).await;
        Ok(Decision::keep())
    });
    let consumed = consume(first(&queue, 1), entity_of, &processor, options()).await;
    assert_eq!((consumed.no_effect, consumed.failed_extensions), (1, 3));
    assert_eq!(queue.length().await, 0);
}

#[tokio::test(start_paused = true)]
async fn dropped_loop_extends_no_more_leases() {
    let queue = MemoryQueue::default().with_lease(30 * SECOND);
    queue.put(Ok(received("1", "stuck")));
    let processor = stuck();
    tokio::select! {
        _ = consume(queue.deliveries(), entity_of, &processor, options()) => unreachable!("the handler is stuck"),
        () = tokio::time::sleep(15 * SECOND) => {}
    }
    let taken = crate::checks::take(&queue).await;
    assert_eq!(storagebox_transports::Delivery::attempt(&taken), 2);
    assert_eq!(count(&queue, 1, "extend"), 1);
}
