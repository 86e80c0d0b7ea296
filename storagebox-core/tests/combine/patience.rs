//! A turn that takes too long delays only calls with its own keys.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::bench::{Bench, Call, Fate, Told, all_go_on, alone, told};

#[tokio::test]
async fn a_stalled_call_does_not_block_calls_of_other_keys() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let stuck = bench.leader(&gate).await;
    let followers = bench.followers(&[Call("a", 1), Call("b", 2)]).await;
    all_go_on().await;
    assert!(bench.batches.try_recv().is_err(), "a batch beside a turn that is not late yet");
    bench.lose_patience().await;
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 1), Call("b", 2)]);
    assert_eq!(told(followers).await, [1, 2].map(Told::Together));

    let later = bench.follower(Call("c", 3)).await;
    assert_eq!(later.await.unwrap(), alone(3, false), "what is late is waited for by nobody");
    gate.notify_one();
    assert_eq!(stuck.await.unwrap(), alone(0, false));
}

#[tokio::test]
async fn a_stalled_batch_does_not_block_calls_of_other_keys() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let leader = bench.leader(&gate).await;
    let stuck = bench.followers(&[Call("a", 1)]).await;
    gate.notify_one();
    assert_eq!(leader.await.unwrap(), alone(0, false));
    let (first, fate) = bench.batches.recv().await.unwrap();
    assert_eq!(first, [Call("a", 1)]);
    let others = bench.followers(&[Call("b", 2), Call("c", 3)]).await;
    // The first stall timeout applied to the leader.
    bench.lose_patience().await;
    assert!(bench.batches.try_recv().is_err(), "a batch beside one that is not late yet");
    bench.lose_patience().await;
    assert_eq!(bench.batch(Fate::Answered).await, [Call("b", 2), Call("c", 3)]);
    assert_eq!(told(others).await, [2, 3].map(Told::Together));
    assert!(fate.send(Fate::Answered).is_ok());
    assert_eq!(told(stuck).await, [Told::Together(1)]);
}

/// The calls of the key wait even after the stall timeout.
#[tokio::test]
async fn calls_of_a_key_wait_for_the_call_in_progress() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let stuck = bench.leader_of(Call("a", 0), &gate).await;
    let same = bench.follower(Call("a", 1)).await;
    let other = bench.follower(Call("b", 2)).await;
    bench.lose_patience().await;
    assert_eq!(bench.batch(Fate::Answered).await, [Call("b", 2)]);
    assert_eq!(other.await.unwrap(), Told::Together(2));
    let late = bench.follower(Call("a", 3)).await;
    bench.lose_patience().await;
    assert!(bench.batches.try_recv().is_err(), "a key that is under way is asked for");
    gate.notify_one();
    assert_eq!(stuck.await.unwrap(), alone(0, false));
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 1)]);
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 3)]);
    assert_eq!(told(vec![same, late]).await, [1, 3].map(Told::Together));
}

#[tokio::test]
async fn batch_that_makes_progress_is_not_overtaken() {
    let (mut bench, gate) = (Bench::new(1), Arc::new(Notify::new()));
    let _leader = bench.leader(&gate).await;
    let followers = bench.followers(&[Call("a", 1), Call("b", 2), Call("c", 3)]).await;
    gate.notify_one();
    for expected in [Call("a", 1), Call("b", 2)] {
        assert_eq!(bench.batch(Fate::Answered).await, [expected]);
        all_go_on().await;
        // The stall timeout that passes here began before that batch.
        bench.lose_patience().await;
        assert_eq!(bench.batches.len(), 1, "one batch at a time, while each comes to its end");
    }
    assert_eq!(bench.batch(Fate::Answered).await, [Call("c", 3)]);
    assert_eq!(told(followers).await, [1, 2, 3].map(Told::Together));
}

#[tokio::test]
async fn a_stalled_store_gets_at_most_five_batches_at_once() {
    let (mut bench, gate) = (Bench::new(1), Arc::new(Notify::new()));
    let stuck = bench.leader(&gate).await;
    let keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let calls: Vec<_> = keys.iter().zip(1..).map(|(key, number)| Call(key, number)).collect();
    let followers = bench.followers(&calls).await;
    // Each batch outlasts two stall timeouts: the first one began before the batch.
    for _ in 0..2 * keys.len() {
        bench.lose_patience().await;
    }
    assert_eq!(bench.batches.len(), 5, "four that were overtaken, and the one that all wait for");
    gate.notify_one();
    assert_eq!(stuck.await.unwrap(), alone(0, false));
    for call in calls {
        assert_eq!(bench.batch(Fate::Answered).await, [call]);
    }
    let expected: Vec<_> = (1..=keys.len() as u32).map(Told::Together).collect();
    assert_eq!(told(followers).await, expected);
}
