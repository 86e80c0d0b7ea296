//! Worker processes that end in the middle of a message. Each case gets an empty queue.

mod worker;

use std::collections::BTreeSet;
use std::time::Duration;

use storagebox_core::{Dispatcher, Outgoing, async_trait};

use crate::checks::cases::ack;
use crate::checks::{Deliveries, Queue, id, take};

use worker::Worker;
pub(crate) use worker::work;

const GOOD: usize = 20;
const KILLS: usize = 8;
/// The prefix of the ids of messages whose handler ends its worker.
const KILLER: &str = "killer";
const LOOK: Duration = Duration::from_millis(20);
/// The number of looks without a new message after which the leases are ended again.
const QUIET: u32 = 100;
/// How often the leases are ended again before the case fails.
const MOST_QUIET: u32 = 60;

/// A queue that another process can read.
#[async_trait]
pub(crate) trait Shared: Queue {
    /// The lease that the queue gives to a worker process.
    const HOLDS: Duration = Self::LEASE;

    /// Returns the address of the server and the name of the queue.
    fn place(&self) -> [&str; 2];

    /// Opens the queue in another process, with the result of the method `place`.
    async fn open(place: [&str; 2]) -> Deliveries<Self::Delivery>;
}

/// Returns the ids of the messages that do not end their worker.
fn good() -> BTreeSet<String> {
    (0..GOOD).map(|number| format!("good {number:02}")).collect()
}

fn killers() -> [String; 2] {
    [0, 1].map(|number| format!("{KILLER} {number}"))
}

async fn send<Q: Shared>(queue: &Q, ids: impl IntoIterator<Item = String>) {
    let message = |id: String| Outgoing {
        token: id.as_str().try_into().unwrap(),
        destination: queue.name(),
        body: id.as_str().try_into().unwrap(),
        id: id.try_into().unwrap(),
    };
    let messages: Vec<_> = ids.into_iter().map(message).collect();
    queue.dispatcher().dispatch(&messages).await.unwrap();
}

/// Runs a worker until it ends, until it has begun `begins` messages and is killed, or until every good message has begun
/// once, the queue is empty and `parked` messages are parked. Returns whether the latter is so. A worker parks a message
/// that three more than `park_after` lone runs did not settle.
async fn live<Q: Shared>(
    queue: &Q,
    unbegun: &mut BTreeSet<String>,
    parked: usize,
    begins: usize,
    park_after: u32,
) -> bool {
    let mut worker = Worker::start::<Q>(queue.place(), park_after);
    let (mut begun, mut quiet) = (0, 0);
    while begun < begins {
        tokio::select! {
            id = worker.begins() => {
                let Some(id) = id else { break };
                unbegun.remove(&id);
                (begun, quiet) = (begun + 1, 0);
            }
            () = tokio::time::sleep(LOOK) => {
                let left = (queue.length().await, queue.parked().await);
                if unbegun.is_empty() && left == (0, parked) {
                    worker.stop().await;
                    return true;
                }
                quiet += 1;
                assert!(quiet < MOST_QUIET * QUIET, "{left:?} are left and parked; {unbegun:?} have not begun");
                // The last statement of a killed worker may reach the server after `lapse`, and lease a message to it.
                if quiet % QUIET == 0 {
                    queue.lapse().await;
                }
            }
        }
    }
    for id in worker.kill().await {
        unbegun.remove(&id);
    }
    queue.lapse().await;
    false
}

pub(crate) async fn only_the_message_that_ends_its_workers_is_parked<Q: Shared>(queue: &Q) {
    let (killers, mut left) = (killers(), good());
    let half: Vec<_> = left.iter().take(GOOD / 2).cloned().collect();
    let others: Vec<_> = left.iter().skip(GOOD / 2).cloned().collect();
    send(queue, [killers[0].clone()].into_iter().chain(half).chain([killers[1].clone()]).chain(others)).await;
    let mut lives = 1;
    while !live(queue, &mut left, killers.len(), usize::MAX, 1).await {
        lives += 1;
        assert!(lives <= 15, "{left:?} have not begun, and {} are parked", queue.parked().await);
    }
    queue.holds(0, 2).await;
    queue.redrive().await;
    let mut parked = BTreeSet::new();
    for _ in &killers {
        let delivery = take(queue).await;
        parked.insert(id(&delivery));
        ack(delivery).await;
    }
    assert_eq!(parked, BTreeSet::from(killers));
}

pub(crate) async fn messages_are_processed_although_workers_are_killed_often<Q: Shared>(queue: &Q) {
    let mut left = good();
    send(queue, left.clone()).await;
    for life in 0..KILLS {
        // The worker is killed in its first, second or third message, which may be the same message each time.
        let _ = live(queue, &mut left, 0, 1 + life % 3, 8).await;
    }
    assert!(live(queue, &mut left, 0, usize::MAX, 8).await, "{left:?} have not begun");
    queue.holds(0, 0).await;
}

/// Creates a test for each case of this module. The function `$fresh` returns a queue of the type `$queue` for each
/// test.
#[macro_export]
macro_rules! lives {
    ($queue:ty, $fresh:path) => {
        $crate::lives! { $queue, $fresh, [cfg(test)] }
    };
    ($queue:ty, $fresh:path, $attribute:tt) => {
        $crate::checks! { $fresh, $attribute, $crate::lives:
            only_the_message_that_ends_its_workers_is_parked
            messages_are_processed_although_workers_are_killed_often
        }

        #[ignore = "what another process does, which cases start"]
        #[tokio::test]
        async fn as_a_worker_process() {
            $crate::lives::work::<$queue>().await;
        }
    };
}
