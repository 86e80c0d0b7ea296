//! The set of listed items, with 16 bytes per item of any length.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use storagebox::values::Item;

/// Two keyed hashes of 64 bits: among ten million items the probability of a collision is below 1 in 10^24.
#[derive(Debug, Default)]
pub(super) struct Seen {
    keys: [RandomState; 2],
    prints: HashSet<[u64; 2]>,
}

impl Seen {
    /// Inserts the item. Returns whether it is new.
    pub(super) fn insert(&mut self, item: &Item) -> bool {
        self.prints.insert(self.keys.each_ref().map(|key| key.hash_one(item)))
    }
}
