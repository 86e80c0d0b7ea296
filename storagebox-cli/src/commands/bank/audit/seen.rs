//! The set of listed items. It stores 16 bytes per item, however long the item is.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use storagebox::values::Item;

/// The set of listed items, as two 64-bit hashes per item. With ten million items, the probability of a collision is
/// below 1 in 10^24.
#[derive(Debug, Default)]
pub(super) struct Seen {
    keys: [RandomState; 2],
    prints: HashSet<[u64; 2]>,
}

impl Seen {
    pub(super) fn insert(&mut self, item: &Item) -> bool {
        self.prints.insert(self.keys.each_ref().map(|key| key.hash_one(item)))
    }
}
