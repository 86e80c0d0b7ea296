//! The calls that a batch combines, and their results.

use std::sync::{Arc, Mutex, PoisonError};

use storagebox_core::{Combined, Combiner};
use tokio::sync::Notify;
use tokio::task::yield_now;

use crate::bench::{Bench, Call, Fate, Told, alone, meet, spawn, told};

#[tokio::test]
async fn call_is_made_alone_if_no_other_call_is_in_progress() {
    let mut bench = Bench::new(8);
    for number in 0..3 {
        assert_eq!(bench.follower(Call("a", number)).await.await.unwrap(), alone(number, false));
    }
    assert!(bench.batches.try_recv().is_err(), "a batch of nobody");
}

#[tokio::test]
async fn calls_during_another_call_form_one_batch_in_order() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let leader = bench.leader(&gate).await;
    let calls = [Call("a", 1), Call("b", 2), Call("c", 3)];
    let followers = bench.followers(&calls).await;
    assert!(bench.batches.try_recv().is_err(), "a batch beside the leader");
    gate.notify_one();
    assert_eq!(leader.await.unwrap(), alone(0, false));
    assert_eq!(bench.batch(Fate::Answered).await, calls);
    assert_eq!(told(followers).await, [1, 2, 3].map(Told::Together));
}

#[tokio::test]
async fn batch_has_one_call_per_key_up_to_the_maximum_batch_size() {
    let (mut bench, gate) = (Bench::new(2), Arc::new(Notify::new()));
    let _leader = bench.leader(&gate).await;
    let followers = bench.followers(&[Call("a", 1), Call("a", 2), Call("b", 3), Call("c", 4), Call("a", 5)]).await;
    gate.notify_one();
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 1), Call("b", 3)]);
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 2), Call("c", 4)]);
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 5)]);
    assert_eq!(told(followers).await, [1, 2, 3, 4, 5].map(Told::Together));
}

#[tokio::test]
async fn calls_during_a_batch_form_the_next_batch() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let _leader = bench.leader(&gate).await;
    let mut followers = bench.followers(&[Call("a", 1)]).await;
    gate.notify_one();
    let (first, fate) = bench.batches.recv().await.unwrap();
    followers.push(bench.follower(Call("a", 2)).await);
    followers.push(bench.follower(Call("b", 3)).await);
    assert_eq!(first, [Call("a", 1)]);
    assert!(fate.send(Fate::Answered).is_ok());
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 2), Call("b", 3)]);
    assert_eq!(told(followers).await, [1, 2, 3].map(Told::Together));
    assert_eq!(bench.follower(Call("d", 4)).await.await.unwrap(), alone(4, false), "nothing is under way");
}

#[tokio::test]
async fn dropped_caller_is_skipped_and_cancels_no_other_call() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let leader = bench.leader(&gate).await;
    let followers = bench.followers(&[Call("a", 1), Call("b", 2), Call("c", 3)]).await;
    followers[0].abort();
    yield_now().await;
    gate.notify_one();
    let (batch, fate) = bench.batches.recv().await.unwrap();
    followers[1].abort();
    assert_eq!(batch, [Call("b", 2), Call("c", 3)], "nobody waits for the first any more");
    assert!(fate.send(Fate::Answered).is_ok());
    let mut followers = followers.into_iter();
    assert!(followers.next().unwrap().await.unwrap_err().is_cancelled());
    assert!(followers.next().unwrap().await.unwrap_err().is_cancelled());
    assert_eq!(told(followers.collect()).await, [Told::Together(3)]);
    assert_eq!(leader.await.unwrap(), alone(0, false));
}

#[tokio::test]
async fn dropping_the_call_in_progress_lets_waiting_calls_begin() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let leader = bench.leader(&gate).await;
    let followers = bench.followers(&[Call("a", 1), Call("b", 2)]).await;
    leader.abort();
    assert!(leader.await.unwrap_err().is_cancelled());
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 1), Call("b", 2)]);
    assert_eq!(told(followers).await, [1, 2].map(Told::Together));
}

#[tokio::test]
async fn each_call_without_an_answer_from_its_batch_is_made_alone() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let _leader = bench.leader(&gate).await;
    let followers = bench.followers(&[Call("a", 1), Call("b", 2), Call("c", 3), Call("d", 4)]).await;
    gate.notify_one();
    // The batch returns no answer for the last call.
    let answers = vec![Combined::Answer(Told::Together(1)), Combined::RunAlone, Combined::Lost];
    bench.batch(Fate::Combined(answers)).await;
    let expected = [Told::Together(1), alone(2, false), alone(3, true), alone(4, true)];
    assert_eq!(told(followers).await, expected);
}

#[tokio::test]
async fn batch_that_panics_does_not_affect_the_next_batch() {
    let (mut bench, gate) = (Bench::new(8), Arc::new(Notify::new()));
    let _leader = bench.leader(&gate).await;
    let mut followers = bench.followers(&[Call("a", 1), Call("b", 2)]).await;
    gate.notify_one();
    let (_, fate) = bench.batches.recv().await.unwrap();
    followers.push(bench.follower(Call("c", 3)).await);
    assert!(fate.send(Fate::Panic).is_ok());
    assert_eq!(bench.batch(Fate::Answered).await, [Call("c", 3)]);
    assert_eq!(told(followers).await, [alone(1, true), alone(2, true), Told::Together(3)]);
}

/// The callers are on several threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_of_many_callers_gets_its_own_answer() {
    let batches = Arc::new(Mutex::new(vec![]));
    let noted = Arc::clone(&batches);
    let together = move |calls: Vec<Call>| {
        noted.lock().unwrap_or_else(PoisonError::into_inner).push(calls.len());
        Box::pin(async move {
            yield_now().await;
            meet(&calls, Fate::Answered)
        }) as _
    };
    let combiner = Combiner::new(4, Box::new(together), Box::new(spawn), None);
    let mut callers = vec![];
    for caller in 0..64 {
        let combiner = Arc::clone(&combiner);
        callers.push(tokio::spawn(async move {
            for round in 0..100 {
                let (number, key) = (caller * 100 + round, ["a", "b", "c", "d", "e"][round as usize % 5]);
                let alone = |lost| async move {
                    yield_now().await;
                    Ok(alone(number, lost))
                };
                let told = combiner.call(Call(key, number), alone).await.unwrap();
                assert!([Told::Together(number), self::alone(number, false)].contains(&told), "{number}: {told:?}");
            }
        }));
    }
    for caller in callers {
        caller.await.unwrap();
    }
    let sizes = batches.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(sizes.iter().all(|size| (1..=4).contains(size)), "{sizes:?}");
}

/// The runtime of the batch has ended, so the task of the batch never runs.
#[tokio::test]
async fn calls_of_a_batch_that_never_began_are_made_alone() {
    let together = |calls: Vec<Call>| Box::pin(async move { meet(&calls, Fate::Answered) }) as _;
    let bench = Bench::of(Combiner::new(8, Box::new(together), Box::new(drop), None));
    for _ in 0..2 {
        let gate = Arc::new(Notify::new());
        let leader = bench.leader(&gate).await;
        let followers = bench.followers(&[Call("one", 1), Call("other", 2)]).await;
        gate.notify_one();
        leader.await.unwrap();
        let alone = |number| Told::Alone { number, lost: false };
        assert_eq!(told(followers).await, [alone(1), alone(2)]);
    }
}
