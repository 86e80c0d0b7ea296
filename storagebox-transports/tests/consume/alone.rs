//! Lone runs of messages whose worker ended.

use std::time::Duration;

use storagebox_core::{Decision, Processor};
use storagebox_transports::{ConsumeOptions, Consumed, Settle, consume};

use crate::checks::Queue;
use crate::checks::endpoint::entity_of;
use crate::leases::{Aged, LEASE};
use crate::queue::MemoryQueue;
use crate::shared::{Log, SECOND, failing, first, processor, received, slow, stuck};

fn options() -> ConsumeOptions {
    ConsumeOptions::default().lease(30 * SECOND).unwrap()
}

/// Returns a queue with these messages, whose worker received all of them and settled none.
async fn lapsed(messages: &[(&str, &str)]) -> MemoryQueue {
    let queue = MemoryQueue::default();
    for (id, entity) in messages {
        queue.put(Ok(received(id, entity)));
    }
    for _ in messages {
        crate::checks::take(&queue).await;
    }
    queue.age(LEASE).await;
    queue
}

/// Runs a worker for half a second, drops the worker, and ends the leases of its messages.
async fn dies(queue: &MemoryQueue, processor: &Processor, options: ConsumeOptions) {
    tokio::select! {
        _ = consume(queue.deliveries(), entity_of, processor, options) => unreachable!("the queue does not end"),
        () = tokio::time::sleep(SECOND / 2) => {}
    }
    queue.age(LEASE).await;
}

async fn one(queue: &MemoryQueue, processor: &Processor, options: ConsumeOptions) -> Consumed {
    consume(first(queue, 1), entity_of, processor, options).await
}

#[tokio::test(start_paused = true)]
async fn messages_of_an_ended_worker_run_first_and_alone() {
    let (queue, log) = (lapsed(&[("1", "a"), ("2", "b")]).await, Log::default());
    for (id, entity) in [("3", "c"), ("4", "d")] {
        queue.put(Ok(received(id, entity)));
    }
    let consumed = consume(first(&queue, 4), entity_of, &slow(&log), options()).await;
    assert_eq!(consumed.no_effect, 4);
    let log = log.take();
    assert_eq!(log[..4], ["begin 1", "end 1", "begin 2", "end 2"]);
    assert_eq!(log[4..6], ["begin 3", "begin 4"]);
}

#[tokio::test(start_paused = true)]
async fn only_one_message_per_runtime_runs_alone_at_a_time() {
    let (queues, log) = ([lapsed(&[("1", "a")]).await, lapsed(&[("2", "a")]).await], Log::default());
    let processor = slow(&log);
    let [one, other] = queues.each_ref().map(|queue| consume(first(queue, 1), entity_of, &processor, options()));
    let _ = tokio::join!(one, other);
    assert_eq!(log.take(), ["begin 1", "end 1", "begin 2", "end 2"]);
}

#[tokio::test(start_paused = true)]
async fn message_to_run_alone_waits_for_messages_in_progress() {
    let (queue, log) = (lapsed(&[("2", "b")]).await, Log::default());
    queue.put(Ok(received("3", "c")));
    let fresh = MemoryQueue::default();
    fresh.put(Ok(received("1", "a")));
    let deliveries = futures_util::StreamExt::chain(first(&fresh, 1), first(&queue, 2));
    let _ = consume(deliveries, entity_of, &slow(&log), options()).await;
    assert_eq!(log.take(), ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
}

#[tokio::test(start_paused = true)]
async fn message_to_run_alone_overtakes_no_message_of_its_entity() {
    let (queue, log) = (lapsed(&[("2", "a")]).await, Log::default());
    let fresh = MemoryQueue::default();
    for id in ["0", "1"] {
        fresh.put(Ok(received(id, "a")));
    }
    let deliveries = futures_util::StreamExt::chain(first(&fresh, 2), first(&queue, 1));
    let _ = consume(deliveries, entity_of, &slow(&log), options()).await;
    assert_eq!(log.take(), ["begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"]);
}

/// In the first queue, a message hangs while it runs alone. In the second queue, a message hangs while another message
/// waits to run alone.
#[tokio::test(start_paused = true)]
async fn hanging_message_delays_others_for_at_most_one_lease() {
    let alone = lapsed(&[("1", "stuck"), ("2", "a")]).await;
    alone.put(Ok(received("3", "b")));
    let before = lapsed(&[("2", "a")]).await;
    let first = MemoryQueue::default();
    first.put(Ok(received("1", "stuck")));
    let behind = futures_util::StreamExt::chain(crate::shared::first(&first, 1), before.deliveries());
    for (deliveries, queue, left) in [(alone.deliveries(), &alone, 1), (Box::pin(behind), &before, 0)] {
        let processor = stuck();
        tokio::select! {
            _ = consume(deliveries, entity_of, &processor, options()) => unreachable!("a handler is stuck"),
            () = tokio::time::sleep(61 * SECOND) => {}
        }
        assert_eq!(queue.length().await, left);
    }
}

/// Checks that a message whose handler hangs is parked after it has run alone `runs` times, and that the message is
/// processed after a redrive.
async fn is_parked_after(runs: u32, options: fn() -> ConsumeOptions) {
    let (queue, log) = (MemoryQueue::default(), Log::default());
    queue.put(Ok(received("1", "a")));
    let noted = log.clone();
    let processor = processor(move |message| {
        noted.note(message.id.as_str());
        std::future::pending()
    });
    for _ in 0..=runs {
        dies(&queue, &processor, options()).await;
    }
    assert_eq!((queue.length().await, queue.parked().await), (1, 0));
    let consumed = one(&queue, &processor, options()).await;
    assert_eq!((consumed.parked, queue.length().await, queue.parked().await), (1, 0, 1));
    assert_eq!(log.take().len() as u32, 1 + runs);
    queue.redrive().await;
    assert_eq!(one(&queue, &slow(&log), options()).await.no_effect, 1);
}

#[tokio::test(start_paused = true)]
async fn message_that_repeatedly_ends_its_worker_is_parked() {
    is_parked_after(4, || options().park_after(1)).await;
    is_parked_after(8, options).await;
}

#[tokio::test(start_paused = true)]
async fn messages_behind_a_message_that_ends_its_worker_are_processed() {
    let queue = MemoryQueue::default();
    for number in 1..9 {
        queue.put(Ok(received(&number.to_string(), "a")));
    }
    let processor = processor(|message| async move {
        if message.id.as_str() == "1" {
            std::future::pending::<()>().await;
        }
        Ok(Decision::keep())
    });
    for _ in 0..9 {
        dies(&queue, &processor, options().park_after(1)).await;
    }
    assert_eq!((queue.length().await, queue.parked().await), (0, 1));
    assert_eq!(queue.state().settled.iter().filter(|settle| **settle == Settle::Ack).count(), 7);
}

#[tokio::test(start_paused = true)]
async fn handler_error_resets_the_count_of_unsettled_runs() {
    let queue = lapsed(&[("1", "a")]).await;
    for _ in 0..3 {
        for _ in 0..3 {
            dies(&queue, &processor(|_| std::future::pending()), options()).await;
        }
        let consumed = one(&queue, &failing(), options().backoff(Duration::ZERO, Duration::ZERO)).await;
        assert_eq!((consumed.retried, consumed.parked), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn message_is_not_run_alone_if_the_run_cannot_be_recorded() {
    let queue = lapsed(&[("1", "a")]).await;
    queue.state().notes_nothing = true;
    let log = Log::default();
    let consumed = one(&queue, &slow(&log), options().park_after(1)).await;
    assert_eq!((consumed.retried, consumed.parked, log.take().len()), (1, 0, 0));
}
