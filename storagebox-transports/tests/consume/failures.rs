//! Messages whose processing fails, and errors of the queue.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use storagebox_core::layer::{Call, Layer, Layered, Next, Response};
use storagebox_core::{
    Backend, BoxError, Decision, Error, ErrorKind, Joins, Message, MissingToken, Payload, Processor, async_trait,
};
use storagebox_memory::MemoryStore;
use storagebox_transports::{ConsumeOptions, Consumed, Malformed, Received, Settle, consume};
use tokio::time::Instant;
use tracing::level_filters::LevelFilter;

use crate::checks::Queue;
use crate::checks::endpoint::{Endpoint, entity_of};
use crate::queue::MemoryQueue;
use crate::said::Said;
use crate::shared::{SECOND, failing, first, processor, received};

/// Consumes the first `copies` deliveries of a queue with one message. Returns what the loop counted, and the queue.
async fn failed(processor: &Processor, copies: usize, options: ConsumeOptions) -> (Consumed, MemoryQueue) {
    let queue = MemoryQueue::default();
    queue.put(Ok(received("1", "a")));
    let consumed = consume(first(&queue, copies), entity_of, processor, options).await;
    (consumed, queue)
}

fn pauses(queue: &MemoryQueue) -> Vec<Duration> {
    let pause = |settle: &Settle| match settle {
        Settle::Retry { after } => Some(*after),
        _ => None,
    };
    queue.state().settled.iter().filter_map(pause).collect()
}

#[tokio::test(start_paused = true)]
async fn message_whose_handler_fails_is_retried_after_growing_pauses() {
    let options = ConsumeOptions::default().backoff(4 * SECOND, 20 * SECOND);
    let (consumed, queue) = failed(&failing(), 5, options).await;
    assert_eq!((consumed.retried, queue.length().await), (5, 1));
    let bounds = [(2, 4), (4, 8), (8, 16), (10, 20), (10, 20)];
    for (pause, (least, most)) in pauses(&queue).into_iter().zip(bounds) {
        assert!((least * SECOND..=most * SECOND).contains(&pause), "{pause:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_whose_handler_fails_too_often_is_parked() {
    let (consumed, queue) = failed(&failing(), 3, ConsumeOptions::default().park_after(3)).await;
    assert_eq!((consumed.retried, consumed.parked), (2, 1));
    assert_eq!((queue.length().await, queue.parked().await), (0, 1));
}

#[derive(Debug)]
struct Down;

#[async_trait]
impl Layer for Down {
    async fn call(&self, _: &Call<'_>, _: Next<'_>) -> storagebox_core::Result<Response> {
        Err(Error::new(ErrorKind::Unavailable, "it is down"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_whose_store_fails_is_never_parked() {
    let store = Layered::new(Arc::new(MemoryStore::new()), Arc::new(Down));
    let tokens = store.token_store(&"tokens".parse().unwrap()).unwrap();
    let entities = store.entity_ledger(&"entities".parse().unwrap(), &Joins::default()).unwrap();
    let handler = async |_: Option<Payload>, _: Message| Ok(Decision::keep());
    let processor = Processor::new(entities, tokens, handler).without_token(MissingToken::Unprotected);
    let (consumed, queue) = failed(&processor, 9, ConsumeOptions::default().park_after(1)).await;
    assert_eq!((consumed.retried, consumed.parked, queue.length().await), (9, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn panic_of_the_handler_counts_as_a_failure() {
    let panicking = processor(|message| async move {
        assert_ne!(message.entity.as_str(), "a", "the test's panic");
        Ok(Decision::keep())
    });
    let queue = MemoryQueue::default();
    queue.put(Ok(received("1", "a")));
    queue.put(Ok(received("2", "b")));
    let options = ConsumeOptions::default().park_after(2);
    let consumed = consume(first(&queue, 3), entity_of, &panicking, options).await;
    assert_eq!((consumed.retried, consumed.parked, consumed.no_effect), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn message_is_parked_if_its_entity_function_panics() {
    let queue = MemoryQueue::default();
    queue.put(Ok(received("1", "a")));
    queue.put(Ok(received("2", "b")));
    let processor = processor(|_| async { Ok(Decision::keep()) });
    let panics = |received: &Received| {
        assert_ne!(received.id.as_str(), "1", "the test's panic");
        entity_of(received)
    };
    let consumed = consume(first(&queue, 2), panics, &processor, ConsumeOptions::default()).await;
    assert_eq!((consumed.parked, consumed.no_effect, queue.parked().await), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn message_that_can_never_be_processed_is_parked() {
    let queue = MemoryQueue::default();
    let endpoint = Endpoint::new(&queue);
    queue.put(Ok(received("no token", "a")));
    queue.put(Ok(received("no entity", "")));
    queue.put(Err(Malformed("it has no id".to_owned())));
    let consumed = consume(first(&queue, 3), entity_of, &endpoint.processor, ConsumeOptions::default()).await;
    assert_eq!((consumed.parked, queue.parked().await, queue.length().await), (3, 3, 0));
    assert_eq!(endpoint.handler.runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn stream_errors_are_counted_and_pauses_between_them_grow() {
    let queue = MemoryQueue::default();
    queue.state().stream_errors = 10;
    queue.put(Ok(received("1", "a")));
    let processor = processor(|_| async { Ok(Decision::keep()) });
    let begun = Instant::now();
    let consumed = consume(first(&queue, 11), entity_of, &processor, ConsumeOptions::default()).await;
    assert_eq!((consumed.stream_errors, consumed.no_effect), (10, 1));
    // 50 ms, doubled six times, then 5 s three times.
    assert_eq!(begun.elapsed().as_millis(), 50 * 127 + 3 * 5000);
}

#[tokio::test(start_paused = true)]
async fn loop_can_be_stopped_during_the_pause_after_an_error() {
    let queue = MemoryQueue::default();
    queue.state().stream_errors = usize::MAX;
    let options = ConsumeOptions::default().until(tokio::time::sleep(100 * SECOND));
    let begun = Instant::now();
    let consumed = consume(queue.deliveries(), entity_of, &failing(), options).await;
    assert_eq!(begun.elapsed().as_secs(), 100);
    // One error comes at once, seven follow pauses that double from 50 ms, and the others come every 5 s.
    assert_eq!(consumed.stream_errors, 26);
}

#[tokio::test(start_paused = true)]
async fn failed_settlement_is_counted_beside_the_result_of_its_message() {
    let queue = MemoryQueue::default();
    queue.put(Ok(received("1", "a")));
    let processor = processor(|_| async { Ok(Decision::keep()) });
    queue.cut_next_ack(storagebox_conformance::Cut::RequestLost);
    let consumed = consume(first(&queue, 1), entity_of, &processor, ConsumeOptions::default()).await;
    assert_eq!((consumed.no_effect, consumed.failed_settles, queue.length().await), (1, 1, 1));
}

/// The stream returns the error between two messages, and the loop ends before the second message.
#[tokio::test(start_paused = true)]
async fn error_that_a_retry_cannot_resolve_ends_the_loop() {
    for (kind, ends) in [
        (ErrorKind::Denied, true),
        (ErrorKind::Unsupported, true),
        (ErrorKind::Corrupt, true),
        (ErrorKind::NotSetUp, false),
        (ErrorKind::Unavailable, false),
        (ErrorKind::OutcomeUnknown, false),
        (ErrorKind::Misconfigured, false),
    ] {
        let queue = MemoryQueue::default();
        queue.put(Ok(received("1", "a")));
        queue.put(Ok(received("2", "b")));
        let refused = stream::once(async move { Err(BoxError::from(Error::new(kind, "no"))) });
        let deliveries = first(&queue, 1).chain(refused).chain(first(&queue, 1));
        let processor = processor(|_| async { Ok(Decision::keep()) });
        let consumed = consume(deliveries, entity_of, &processor, ConsumeOptions::default()).await;
        assert_eq!((consumed.stream_errors, consumed.error.is_some()), (1, ends), "{kind:?}");
        assert_eq!((consumed.no_effect, queue.length().await), if ends { (1, 1) } else { (2, 0) }, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn errors_of_one_kind_are_logged_once_in_five_minutes() {
    let (said, _here) = Said::here(LevelFilter::INFO);
    let queue = MemoryQueue::default();
    queue.state().stream_errors = usize::MAX;
    let options = ConsumeOptions::default().until(tokio::time::sleep(700 * SECOND));
    let consumed = consume(queue.deliveries(), entity_of, &failing(), options).await;
    assert!(consumed.stream_errors > 100);
    assert_eq!(said.lines("WARN").len(), 3, "{}", said.text());
    assert!(said.text().contains("the queue is down"), "{}", said.text());
}
