//! Which items were listed already, in 16 bytes each however long they are.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use storagebox::values::Item;

/// Two keyed hashes of 64 bits: among ten million items the odds that any two look alike are below 1 in 10^24.
#[derive(Debug, Default)]
pub(super) struct Seen {
    keys: [RandomState; 2],
    prints: HashSet<[u64; 2]>,
}

impl Seen {
    /// Whether the item was not there yet.
    pub(super) fn insert(&mut self, item: &Item) -> bool {
        self.prints.insert(self.keys.each_ref().map(|key| key.hash_one(item)))
    }
}
