//! The least code that assigns an item to an id: a striped map, and a queue of items that is popped under the stripe's
//! lock.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use crossbeam_queue::SegQueue;

/// The number of separately locked parts of the map, the same as in the library.
const STRIPES: usize = 64;

pub(super) struct Prototype {
    stripes: Vec<Mutex<HashMap<String, String>>>,
    hasher: RandomState,
    items: SegQueue<String>,
}

impl Prototype {
    pub(super) fn filled(items: impl Iterator<Item = String>) -> Self {
        let bank = Self {
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            items: SegQueue::new(),
        };
        items.for_each(|item| bank.items.push(item));
        bank
    }

    /// Returns the item of an id, and assigns an item if the id has none. Returns `None` if no item is left.
    pub(super) fn assign(&self, id: String) -> Option<String> {
        let stripe = self.hasher.hash_one(&id) as usize % STRIPES;
        let mut items_by_id = self.stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner);
        match items_by_id.entry(id) {
            Entry::Occupied(known) => Some(known.get().clone()),
            Entry::Vacant(vacant) => Some(vacant.insert(self.items.pop()?).clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_assign_returns_the_same_item() {
        let bank = Prototype::filled(["A".to_owned()].into_iter());
        let id = || "ada".to_owned();
        assert_eq!(bank.assign(id()), Some("A".to_owned()));
        assert_eq!(bank.assign(id()), Some("A".to_owned()));
        assert_eq!(bank.assign("bob".to_owned()), None);
    }
}
