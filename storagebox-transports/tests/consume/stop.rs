//! The end of a loop.

use std::sync::Arc;

use futures_util::StreamExt;
use storagebox_transports::{ConsumeOptions, Consumed, Settle, consume};
use tokio::sync::Notify;

use crate::checks::Queue;
use crate::checks::endpoint::entity_of;
use crate::queue::MemoryQueue;
use crate::shared::{Log, SECOND, first, received, slow};

#[tokio::test(start_paused = true)]
async fn waiting_messages_are_processed_after_the_end_of_the_stream() {
    let (queue, log) = (MemoryQueue::default(), Log::default());
    for id in ["1", "2", "3"] {
        queue.put(Ok(received(id, "a")));
    }
    let consumed = consume(first(&queue, 3), entity_of, &slow(&log), ConsumeOptions::default()).await;
    assert_eq!((consumed.no_effect, consumed.stopped, queue.length().await), (3, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn stopped_loop_gives_back_only_messages_that_are_not_running() {
    let (queue, log) = (MemoryQueue::default(), Log::default());
    for (id, entity) in [("1", "a"), ("2", "a"), ("3", "b"), ("4", "c")] {
        queue.put(Ok(received(id, entity)));
    }
    let options = ConsumeOptions::default().concurrency(2).prefetch(1).until(tokio::time::sleep(SECOND / 2));
    let consumed = consume(queue.deliveries(), entity_of, &slow(&log), options).await;
    assert_eq!((consumed.no_effect, consumed.stopped, consumed.failed_settles), (2, 1, 0));
    assert_eq!(log.take(), ["begin 1", "begin 3", "end 1", "end 3"]);
    let given_back = Settle::Retry { after: std::time::Duration::ZERO };
    assert_eq!(queue.state().settled, [given_back, Settle::Ack, Settle::Ack]);
    // The worker never took the fourth message from the queue.
    assert_eq!(queue.length().await, 2);
}

#[tokio::test(start_paused = true)]
async fn stopped_loop_drops_the_stream_while_messages_are_running() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (queue, log, dropped) = (MemoryQueue::default(), Log::default(), Arc::new(Notify::new()));
    queue.put(Ok(received("1", "a")));
    let guard = Dropped(Arc::clone(&dropped));
    let deliveries = queue.deliveries().inspect(move |_| {
        let _ = &guard;
    });
    let options = ConsumeOptions::default().until(tokio::time::sleep(SECOND / 2));
    let processor = slow(&log);
    let consuming = consume(deliveries, entity_of, &processor, options);
    let watching = async {
        dropped.notified().await;
        log.take()
    };
    let (_, before) = tokio::join!(consuming, watching);
    assert_eq!((before, log.take()), (vec!["begin 1".to_owned()], vec!["end 1".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn loop_ends_if_it_is_stopped_before_the_first_message() {
    let queue = MemoryQueue::default();
    queue.put(Ok(received("1", "a")));
    let options = ConsumeOptions::default().until(async {});
    let consumed = consume(queue.deliveries(), entity_of, &slow(&Log::default()), options).await;
    let nothing = format!("{:?}", Consumed::default());
    assert_eq!((format!("{consumed:?}"), queue.length().await), (nothing, 1));
}

#[tokio::test(start_paused = true)]
async fn loop_stopped_after_the_end_of_the_stream_gives_back_messages() {
    let (queue, log) = (MemoryQueue::default(), Log::default());
    queue.put(Ok(received("1", "a")));
    queue.put(Ok(received("2", "a")));
    let options = ConsumeOptions::default().until(tokio::time::sleep(SECOND / 2));
    let consumed = consume(first(&queue, 2), entity_of, &slow(&log), options).await;
    assert_eq!((consumed.no_effect, consumed.stopped), (1, 1));
}
