//! Callers of one process that compare and set the same row wait for each other: whoever is beaten has paid for nothing,
//! and between processes there is enough of that.

use std::hash::{BuildHasher, RandomState};

use storagebox_core::Key;

use crate::turns::{Turn, Turns};

/// Keys share lanes; more of them only make it rarer that strangers wait for each other.
const LANES: usize = 64;

#[derive(Debug)]
pub(super) struct Queue {
    lanes: Box<[Turns]>,
    hasher: RandomState,
}

impl Queue {
    pub(super) fn new() -> Self {
        let lanes = (0..LANES).map(|_| Turns::default()).collect();
        Self { lanes, hasher: RandomState::new() }
    }

    /// Lasts until it is dropped, also with the call that has it.
    pub(super) async fn turn(&self, key: &Key) -> Turn {
        let hash = self.hasher.hash_one(key);
        self.lanes[hash as usize % LANES].next().await
    }
}
