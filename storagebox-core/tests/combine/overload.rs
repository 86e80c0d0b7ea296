//! More calls than the store can handle.

use std::future::poll_fn;
use std::hash::{Hash, Hasher};
use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox_core::{Certainty, Combine, Combined, Combiner, ErrorKind, Result};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, sleep, timeout};

use crate::bench::{Bench, Call, Fate, Told, all_go_on, alone, spawn, told};

const KEYS: [&str; 20] =
    ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"];

async fn ensure_refused(bench: &Bench, call: Call) {
    let error = bench.asker(call).await.await.unwrap().unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Throttled, Certainty::NotApplied), "{error}");
    assert_eq!((error.operation(), error.backend()), (Some("ask"), Some("bench")));
}

#[tokio::test]
async fn only_a_key_with_16_waiting_calls_is_throttled() {
    let (mut bench, gate) = (Bench::new(1), Arc::new(Notify::new()));
    let _leader = bench.leader(&gate).await;
    let mut followers = bench.followers(&vec![Call("a", 1); 16]).await;
    ensure_refused(&bench, Call("a", 2)).await;
    let other = bench.follower(Call("b", 3)).await;
    followers[3].abort();
    all_go_on().await;
    followers.push(bench.follower(Call("a", 4)).await);
    ensure_refused(&bench, Call("a", 5)).await;
    gate.notify_one();
    assert_eq!(bench.batch(Fate::Answered).await, [Call("a", 1)]);
    for _ in 0..16 {
        bench.batch(Fate::Answered).await;
    }
    assert_eq!(other.await.unwrap(), Told::Together(3));
    assert!(followers.remove(3).await.unwrap_err().is_cancelled());
    assert_eq!(told(followers).await.last(), Some(&Told::Together(4)));
}

#[tokio::test]
async fn a_full_queue_throttles_calls_until_waiting_callers_are_dropped() {
    let (mut bench, gate) = (Bench::new(1), Arc::new(Notify::new()));
    let leader = bench.leader(&gate).await;
    let calls: Vec<_> = (0..256).map(|number| Call(KEYS[number as usize % 20], number)).collect();
    let followers = bench.followers(&calls).await;
    ensure_refused(&bench, Call("another", 1000)).await;
    followers.iter().for_each(JoinHandle::abort);
    all_go_on().await;
    let fresh = bench.follower(Call("another", 1001)).await;
    gate.notify_one();
    assert_eq!(leader.await.unwrap(), alone(0, false));
    assert_eq!(bench.batch(Fate::Answered).await, [Call("another", 1001)], "nobody else is there");
    assert_eq!(fresh.await.unwrap(), Told::Together(1001));
}

/// A key that counts how often it is cloned, hashed or compared.
#[derive(Clone, Debug)]
struct Looked {
    number: usize,
    looks: Arc<AtomicUsize>,
}

impl Hash for Looked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.looks.fetch_add(1, Ordering::Relaxed);
        self.number.hash(state);
    }
}

impl PartialEq for Looked {
    fn eq(&self, other: &Self) -> bool {
        self.looks.fetch_add(1, Ordering::Relaxed);
        self.number == other.number
    }
}

impl Eq for Looked {}

/// A call whose answer is its number.
struct Ask {
    key: Looked,
    number: usize,
}

impl Combine for Ask {
    type Key = Looked;
    type Answer = usize;

    const BACKEND: &'static str = "bench";
    const OPERATION: &'static str = "ask";

    fn key(&self) -> Looked {
        self.key.looks.fetch_add(1, Ordering::Relaxed);
        self.key.clone()
    }
}

/// A store that makes no call until the test sends `true`. Each batch, and each call made alone, takes the time `step`.
#[derive(Clone)]
struct Stalled {
    runs: watch::Receiver<bool>,
    step: Duration,
    asked: watch::Sender<usize>,
    made: Arc<Mutex<Vec<usize>>>,
}

impl Stalled {
    fn new() -> (watch::Sender<bool>, Self) {
        let (runs, is_running) = watch::channel(false);
        let step = Duration::from_millis(20);
        (runs, Self { runs: is_running, step, asked: watch::Sender::default(), made: Arc::default() })
    }

    async fn make(mut self, numbers: Vec<usize>) -> Vec<usize> {
        self.runs.wait_for(|runs| *runs).await.unwrap();
        sleep(self.step).await;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).extend(&numbers);
        numbers
    }

    fn combiner(&self, patience: Duration) -> Arc<Combiner<Ask>> {
        let store = self.clone();
        let together = move |asks: Vec<Ask>| {
            let made = store.clone().make(asks.into_iter().map(|ask| ask.number).collect());
            Box::pin(async move { made.await.into_iter().map(|number| Combined::Answer(Ok(number))).collect() }) as _
        };
        let patient = move || Box::pin(sleep(patience)) as _;
        Combiner::new(64, Box::new(together), Box::new(spawn), Some(Box::new(patient)))
    }

    fn ask(&self, combiner: &Arc<Combiner<Ask>>, key: Looked, number: usize) -> JoinHandle<Result<usize>> {
        let (store, combiner) = (self.clone(), Arc::clone(combiner));
        tokio::spawn(async move {
            let asked = store.asked.clone();
            let alone = |_| async move { Ok(store.make(vec![number]).await.remove(0)) };
            let mut answer = pin!(combiner.call(Ask { key, number }, alone));
            let mut is_first = true;
            poll_fn(|context| {
                let answer = answer.as_mut().poll(context);
                if mem::take(&mut is_first) {
                    asked.send_modify(|asked| *asked += 1);
                }
                answer
            })
            .await
        })
    }

    async fn were_asked(&self, calls: usize) {
        let _ = self.asked.subscribe().wait_for(|asked| *asked >= calls).await;
    }
}

const CALLERS: usize = 20_000;
const ONE_CALLS_TIME: Duration = Duration::from_secs(10);

/// Aborts the calls, and waits until all have ended.
async fn drop_all(callers: &[JoinHandle<Result<usize>>]) {
    callers.iter().for_each(JoinHandle::abort);
    while !callers.iter().all(JoinHandle::is_finished) {
        yield_now().await;
    }
}

/// The store stalls for a minute.
#[tokio::test(start_paused = true)]
async fn waiting_callers_are_answered_within_10_s_after_a_stall() {
    let (runs, store) = Stalled::new();
    let (combiner, looks) = (store.combiner(Duration::from_millis(100)), Arc::<AtomicUsize>::default());
    let ask = |number| store.ask(&combiner, Looked { number, looks: Arc::clone(&looks) }, number);
    let callers: Vec<_> = (0..CALLERS).map(ask).collect();
    store.were_asked(CALLERS).await;
    let (mut left, mut dropped) = (vec![], vec![]);
    for (number, caller) in callers.into_iter().enumerate() {
        if number % 2 == 0 { left.push((number, caller)) } else { dropped.push(caller) }
    }
    drop_all(&dropped).await;
    // Calls that found the queue full got an error. The dropped calls make room for new calls.
    left.extend((CALLERS..CALLERS + 4_000).map(|number| (number, ask(number))));
    sleep(Duration::from_secs(60)).await;

    runs.send(true).unwrap();
    let back = Instant::now();
    let (mut answered, mut refused) = (0, 0);
    for (number, caller) in left {
        match timeout(ONE_CALLS_TIME, caller).await.unwrap().unwrap() {
            Ok(own) => {
                assert_eq!(own, number);
                answered += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Throttled, "{error}");
                assert!(number < CALLERS, "{number} found no room, where half were dropped");
                refused += 1;
            }
        }
    }
    assert!(back.elapsed() <= ONE_CALLS_TIME, "the last was answered after {:?}", back.elapsed());
    assert_eq!((answered, refused), (12_193, 1_807), "64 times 256 calls have room");
    let made = store.made.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(made.iter().filter(|number| *number % 2 == 1 && **number < CALLERS).count(), 0);
    assert_eq!(made.len(), answered, "calls made, by those that are left alone");
}

/// All 20,000 calls have the same key. The combiner clones, hashes or compares the key at most 20 times per call.
#[tokio::test(start_paused = true)]
async fn cost_of_a_call_does_not_grow_with_the_waiting_calls() {
    let (runs, store) = Stalled::new();
    let (combiner, looks) = (store.combiner(Duration::from_secs(3_600)), Arc::<AtomicUsize>::default());
    let one_key = || Looked { number: 0, looks: Arc::clone(&looks) };
    let callers: Vec<_> = (0..CALLERS).map(|number| store.ask(&combiner, one_key(), number)).collect();
    store.were_asked(CALLERS).await;
    callers.iter().step_by(2).for_each(JoinHandle::abort);
    runs.send(true).unwrap();
    for caller in callers {
        match caller.await {
            Ok(answer) => drop(answer),
            Err(error) => assert!(error.is_cancelled(), "{error}"),
        }
    }
    let looks = looks.load(Ordering::Relaxed);
    assert!(looks <= 20 * CALLERS, "{looks} looks at the key of {CALLERS} calls");
}
