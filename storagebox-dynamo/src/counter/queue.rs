//! Callers of one process that compare and set the same row wait for each other: the loser of a race pays for a write
//! that fails, and races between processes are enough.

use std::hash::{BuildHasher, RandomState};

use storagebox_core::Key;

use crate::single_flight::{Flight, SingleFlight};

/// Keys share lanes; more of them only make it rarer that strangers wait for each other.
const LANES: usize = 64;

#[derive(Debug)]
pub(super) struct Queue {
    lanes: Box<[SingleFlight]>,
    hasher: RandomState,
}

impl Queue {
    pub(super) fn new() -> Self {
        let lanes = (0..LANES).map(|_| SingleFlight::default()).collect();
        Self { lanes, hasher: RandomState::new() }
    }

    /// Lasts until it is dropped, also with the call that has it.
    pub(super) async fn turn(&self, key: &Key) -> Flight {
        let hash = self.hasher.hash_one(key);
        self.lanes[hash as usize % LANES].next().await
    }
}
