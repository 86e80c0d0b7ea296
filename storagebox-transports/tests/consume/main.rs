//! The worker loop over a queue in memory, on a clock that jumps.
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
checks!(fresh, checks::cases: an_acknowledgement_whose_answer_is_lost_is_made);
leases!(fresh);
