//! The worker loop over a queue in memory, on a paused clock.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod alone;
#[path = "../checks/mod.rs"]
mod checks;
mod failures;
mod lease;
#[path = "../leases/mod.rs"]
mod leases;
mod order;
mod queue;
#[path = "../said/mod.rs"]
mod said;
mod shared;
mod stop;

async fn fresh() -> queue::MemoryQueue {
    tokio::time::pause();
    queue::MemoryQueue::default()
}

checks!(fresh);
checks!(fresh, checks::cases: acknowledgement_with_a_lost_answer_takes_effect);
leases!(fresh);
