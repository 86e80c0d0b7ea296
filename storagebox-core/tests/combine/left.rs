//! Calls that are polled and then abandoned: neither polled again nor dropped.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use storagebox_core::{Combiner, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use crate::bench::{Bench, Call, Fate, Told, all_go_on, told};

type Left = Pin<Box<dyn Future<Output = Result<Told>> + Send>>;

/// Returns the future of a call that never ends if it is made alone.
fn call(combiner: &Arc<Combiner<Call>>, call: Call) -> Left {
    let combiner = Arc::clone(combiner);
    Box::pin(async move { combiner.call(call, |_| pending()).await })
}

async fn poll_once(left: &mut Left) {
    let is_left = poll_fn(|context| Poll::Ready(left.as_mut().poll(context).is_pending())).await;
    assert!(is_left);
}

const KEYS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

#[tokio::test]
async fn abandoned_calls_delay_other_calls_by_the_stall_timeout() {
    let (mut bench, mut left) = (Bench::new(8), vec![]);
    for (number, key) in (1..).zip(KEYS) {
        let mut one = call(&bench.combiner, Call(key, 0));
        poll_once(&mut one).await;
        left.push(one);
        let other = bench.follower(Call("other", number)).await;
        // The first stall timeout may have begun with an earlier call.
        bench.lose_patience().await;
        bench.lose_patience().await;
        assert_eq!(bench.batches.len(), 1, "a batch beside {number} calls that are left");
        assert_eq!(bench.batch(Fate::Answered).await, [Call("other", number)]);
        assert_eq!(other.await.unwrap(), Told::Together(number));
    }
}

/// A call that is made alone lasts longer than the stall timeout and is then dropped.
#[tokio::test]
async fn dropped_call_made_alone_does_not_count_as_a_stalled_batch() {
    let mut bench = Bench::new(1);
    let mut alone = call(&bench.combiner, Call("left", 0));
    poll_once(&mut alone).await;
    let calls: Vec<_> = KEYS.iter().zip(1..).map(|(key, number)| Call(key, number)).collect();
    let followers = bench.followers(&calls).await;
    bench.lose_patience().await;
    drop(alone);
    for _ in 0..2 * KEYS.len() {
        bench.lose_patience().await;
    }
    assert_eq!(bench.batches.len(), 5, "four that were overtaken, and the one that all wait for");
    for call in calls {
        assert_eq!(bench.batch(Fate::Answered).await, [call]);
    }
    assert_eq!(told(followers).await, [1, 2, 3, 4, 5, 6, 7, 8].map(Told::Together));
}

#[tokio::test]
async fn abandoned_call_that_runs_in_a_task_delays_no_other_call() {
    let mut bench = Bench::of_tasks(8);
    let mut left = call(&bench.combiner, Call("a", 0));
    poll_once(&mut left).await;
    all_go_on().await;
    let others = bench.followers(&[Call("a", 1), Call("b", 2)]).await;
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 0)]);
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 1), Call("b", 2)]);
    assert_eq!(told(others).await, [1, 2].map(Told::Together));
    let later = bench.follower(Call("c", 3)).await;
    assert_eq!(bench.batch(Fate::Answered).await, [Call("c", 3)]);
    assert_eq!(later.await.unwrap(), Told::Together(3));
    assert_eq!(left.await.unwrap(), Told::Together(0));
}

#[tokio::test]
async fn a_call_dropped_before_its_task_begins_is_not_made() {
    let mut bench = Bench::of_tasks(8);
    let mut dropped = call(&bench.combiner, Call("a", 0));
    poll_once(&mut dropped).await;
    drop(dropped);
    all_go_on().await;
    assert!(bench.batches.try_recv().is_err(), "a batch of nobody");
    let next = bench.follower(Call("a", 1)).await;
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 1)]);
    assert_eq!(next.await.unwrap(), Told::Together(1));
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// Polls the call at most 20 times. Returns its answer, or `None` if the call has not ended.
async fn answered(mut call: Left) -> Option<Told> {
    for _ in 0..20 {
        let polled = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
        if let Poll::Ready(told) = polled {
            return Some(told.unwrap());
        }
        yield_now().await;
    }
    None
}

/// Each thread has its own runtime, which runs only while a call of the thread is in progress.
#[test]
fn waiting_call_continues_in_the_runtime_that_polls_it() {
    let (mut bench, first, second) = (Bench::of_tasks(8), runtime(), runtime());
    let (mut one, mut other) = (call(&bench.combiner, Call("one", 1)), call(&bench.combiner, Call("other", 2)));
    first.block_on(async {
        poll_once(&mut one).await;
        all_go_on().await;
    });
    let (_, fate) = bench.batches.try_recv().unwrap();
    second.block_on(poll_once(&mut other));
    assert!(fate.send(Fate::Answered).is_ok());
    assert_eq!(first.block_on(answered(one)), Some(Told::Together(1)));
    // The first runtime is not driven any more.
    let told = second.block_on(async {
        all_go_on().await;
        if let Ok((_, fate)) = bench.batches.try_recv() {
            assert!(fate.send(Fate::Answered).is_ok());
        }
        answered(other).await
    });
    assert_eq!(told, Some(Told::Together(2)));
}
