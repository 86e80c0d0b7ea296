//! A queue per key. Callers of one process that compare and set the same row wait for each other, because the loser of
//! a race pays for a refused write.

use std::hash::{BuildHasher, RandomState};

use storagebox_core::Key;
use storagebox_core::backend::{Flight, SingleFlight};

/// The number of queues that all keys share. Keys that share a queue wait for each other.
const QUEUES: usize = 64;

#[derive(Debug)]
pub(super) struct Queue {
    queues: Box<[SingleFlight]>,
    hasher: RandomState,
}

impl Queue {
    pub(super) fn new() -> Self {
        let queues = (0..QUEUES).map(|_| SingleFlight::default()).collect();
        Self { queues, hasher: RandomState::new() }
    }

    /// Waits for the earlier callers of the key. The next caller waits until the returned flight is dropped.
    pub(super) async fn next(&self, key: &Key) -> Flight {
        let hash = self.hasher.hash_one(key);
        self.queues[hash as usize % QUEUES].next().await
    }
}
