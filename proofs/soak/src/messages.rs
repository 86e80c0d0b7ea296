//! Messages of two endpoints under faults: copies that arrive twice, workers that crash, replies that are lost. In the
//! end each message has taken effect once, each message that was sent was processed once, and no token and no entry is
//! left.
//!
//! ```text
//! soak messages COUNT [BACKEND...]
//! ```

mod chain;
mod crash;
mod drawn;
mod hot;
mod queue;
mod sums;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox::messages::ProcessError;
use storagebox::{Outcome, Store};
use storagebox_conformance::{Cut, Link};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::caller::MEMORY;
use crate::place::Place;
use crate::report::Report;
use crate::size::Size;
use crate::tally::Tally;
use crate::{Failure, upkeep};
use chain::{Chain, Plan};
use crash::{Crashes, Steps};
use drawn::Drawn;
use queue::{OUTPUTS, Queue};

const WORKERS: usize = 8;
/// The maximum number of messages in progress.
const UNDER_WAY: usize = 200;
/// One in this number of replies is lost on the wire.
const LOST: usize = 20;
const PERCENT_LOST: u8 = 5;
const SAMPLES: usize = 24;
/// The allowed growth of the number of entries: the entities of both endpoints, and a few entries per namespace.
const KEPT: u64 = 2 * queue::ENTITIES as u64 + 50;
/// A time longer than any run.
const LONG: Duration = Duration::from_secs(24 * 3_600);
const IDLE: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(super) struct Counts {
    done: AtomicU64,
    duplicates: AtomicU64,
    crashed: AtomicU64,
    failed: AtomicU64,
    crashes: Crashes,
}

/// Processes `count` messages on one backend. Checks that no token and no entry is left.
pub(crate) async fn one(backend: &str, count: usize) -> Result<Report, Failure> {
    let place = Arc::new(Place::start(backend).await?);
    let (begun, tally, before) = (Instant::now(), Arc::new(Tally::default()), place.size().await?);
    let (queue, drawn, counts) = (Arc::new(Queue::default()), Arc::new(Drawn::default()), Arc::new(Counts::default()));
    place.lose_replies(Cut::ReplyLost, LOST);
    let mut work = JoinSet::new();
    for number in 0..WORKERS {
        let (store, link) = faulty(&place, number).await?;
        let plan = if number % 2 == 0 { Plan::Joined } else { Plan::Split };
        let chain = Chain::of(&store, plan, &queue, &drawn)?;
        work.spawn(worker(chain, link, Arc::clone(&queue), Arc::clone(&counts), Arc::clone(&tally)));
    }
    let kept_up = tokio::spawn(upkeep(place.store().await?, Arc::clone(&tally), begun + LONG));
    produced(&place, (&queue, &counts), &tally, count).await?;
    work.join_all().await;
    let time = begun.elapsed();
    place.lose_nothing();
    if tally.found().is_empty() {
        let chain = Chain::of(&place.store().await?, Plan::Split, &queue, &drawn)?;
        chain.finished(count, &tally).await?;
    }
    let after = place.size().await?;
    ensure_nothing_is_left(before, after, &tally);
    kept_up.abort();
    println!("{backend:8} {}", hot::one(&place, &tally).await?);
    println!("{backend:8} {count} messages and {} that they sent in {} s: {counts}", sent_by(count), time.as_secs());
    Ok(Report::of_work(backend, &tally, [before, after]))
}

/// Checks that the number of the store's entries grew by at most [`KEPT`] during the run.
fn ensure_nothing_is_left(before: Size, after: Size, tally: &Tally) {
    if let (Some(before), Some(after)) = (before.entries, after.entries)
        && after > before + KEPT
    {
        tally.wrong(format!("{before} entries before the run, {after} after it"));
    }
}

/// Returns the number of messages that the handler sends for the first `count` messages: `n % OUTPUTS` for message `n`.
fn sent_by(count: usize) -> usize {
    (0..count).map(|number| number % OUTPUTS).sum()
}

/// Creates a client whose calls may be lost, delayed or doubled.
async fn faulty(place: &Place, seed: usize) -> Result<(Store, Arc<Link>), Failure> {
    let link = Link::random(seed as u64, PERCENT_LOST);
    Ok((place.store().await?.layer(Steps).layer(Arc::clone(&link)), link))
}

/// Creates a token for each message and puts the message into the queue.
async fn produced(
    place: &Place,
    (queue, counts): (&Queue, &Counts),
    tally: &Tally,
    count: usize,
) -> Result<(), Failure> {
    let store = place.store().await?;
    let tokens = store.tokens(chain::ORDERS)?;
    for number in 0..count {
        if !tally.found().is_empty() {
            break;
        }
        let message = queue::order(number)?;
        tokens.create(message.token.clone()).await?;
        queue.send(message);
        while queue.under_way() >= UNDER_WAY && tally.found().is_empty() {
            sleep(IDLE).await;
        }
        if (number + 1) % (count / SAMPLES).max(1) == 0 {
            println!("{:8} {counts}; {}", place.name(), place.size().await?);
        }
    }
    queue.close();
    Ok(())
}

/// Processes copies of messages from the queue, and puts unprocessed copies back.
async fn worker(chain: Chain, link: Arc<Link>, queue: Arc<Queue>, counts: Arc<Counts>, tally: Arc<Tally>) {
    while tally.found().is_empty() {
        let Some(copy) = queue.next() else {
            if queue.is_over() {
                break;
            }
            sleep(IDLE).await;
            continue;
        };
        match counts.crashes.or(chain.process(&copy)).await {
            None => {
                counts.crashed.fetch_add(1, Ordering::Relaxed);
                queue.give_back(copy);
            }
            Some(Ok(outcome)) => {
                counts.note(outcome);
                tally.answered();
                queue.done();
            }
            Some(Err(ProcessError::Store(error))) if !error.is_retryable() => tally.wrong(format!("{copy:?}: {error}")),
            Some(Err(ProcessError::NoToken)) => tally.wrong(format!("{copy:?} has no token")),
            Some(Err(_)) => {
                counts.failed.fetch_add(1, Ordering::Relaxed);
                queue.give_back(copy);
            }
        }
        if fastrand::u8(..20) == 0 {
            link.land().await;
        }
    }
    link.heal();
    link.land().await;
}

impl Counts {
    fn note(&self, outcome: Outcome) {
        let count = if matches!(outcome, Outcome::Duplicate { .. }) { &self.duplicates } else { &self.done };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [done, duplicates, crashed, failed] =
            [&self.done, &self.duplicates, &self.crashed, &self.failed].map(|count| count.load(Ordering::Relaxed));
        let share = 100.0 * crashed as f64 / (done + duplicates + crashed + failed).max(1) as f64;
        write!(
            f,
            "{done} took effect or were finished, {duplicates} copies, {crashed} crashes ({share:.1} %), {failed} errors"
        )
    }
}

/// Waits for longer than the store remembers ended operations.
pub(super) async fn pass_memory() {
    sleep(MEMORY + Duration::from_secs(5)).await;
}
