//! The order in which messages run.

use storagebox_transports::{ConsumeOptions, consume};

use crate::checks::endpoint::entity_of;
use crate::queue::MemoryQueue;
use crate::shared::{Log, first, received, slow};

async fn order(messages: &[(&str, &str)], options: ConsumeOptions) -> Vec<String> {
    let (queue, log) = (MemoryQueue::default(), Log::default());
    for (id, entity) in messages {
        queue.put(Ok(received(id, entity)));
    }
    let consumed = consume(first(&queue, messages.len()), entity_of, &slow(&log), options).await;
    assert_eq!(consumed.no_effect, messages.len() as u64);
    log.take()
}

#[tokio::test(start_paused = true)]
async fn messages_of_one_entity_run_one_after_another_in_their_order() {
    let log = order(&[("1", "a"), ("2", "a"), ("3", "a")], ConsumeOptions::default()).await;
    assert_eq!(log, ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
}

#[tokio::test(start_paused = true)]
async fn messages_of_other_entities_overtake_a_waiting_message() {
    let log = order(&[("1", "a"), ("2", "a"), ("3", "b")], ConsumeOptions::default()).await;
    let at = |what: &str| log.iter().position(|noted| noted == what);
    assert!(at("begin 3") < at("end 1"), "{log:?}");
    assert!(at("begin 2") > at("end 1"), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn concurrency_limits_the_messages_that_run_at_once() {
    let messages: Vec<_> = (0..9).map(|number| (number.to_string(), format!("entity {number}"))).collect();
    let messages: Vec<_> = messages.iter().map(|(id, entity)| (id.as_str(), entity.as_str())).collect();
    for concurrency in [1, 2, 4] {
        let log = order(&messages, ConsumeOptions::default().concurrency(concurrency)).await;
        let running = log.iter().scan(0_usize, |running, noted| {
            *running = if noted.starts_with("begin") { *running + 1 } else { *running - 1 };
            Some(*running)
        });
        assert_eq!(running.max(), Some(concurrency), "{log:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn messages_run_one_at_a_time_if_concurrency_and_prefetch_are_0() {
    let log = order(&[("1", "a"), ("2", "b")], ConsumeOptions::default().concurrency(0).prefetch(0)).await;
    assert_eq!(log, ["begin 1", "end 1", "begin 2", "end 2"]);
}
