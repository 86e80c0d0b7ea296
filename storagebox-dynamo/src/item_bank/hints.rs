//! Which item a claim got, for those claims that took one here: so that a release needs no read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox_core::{ClaimId, Item};

/// How many claims are remembered; about a megabyte.
const MOST: usize = 4_096;

/// Only hints: what they say is checked by the condition of whatever uses them.
#[derive(Debug, Default)]
pub(super) struct Hints(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    items: HashMap<ClaimId, Item>,
    by_age: VecDeque<ClaimId>,
}

impl Hints {
    pub(super) fn remember(&self, claim: &ClaimId, item: &Item) {
        let mut known = self.lock();
        if known.items.insert(claim.clone(), item.clone()).is_some() {
            return;
        }
        known.by_age.push_back(claim.clone());
        if known.by_age.len() > MOST
            && let Some(oldest) = known.by_age.pop_front()
        {
            known.items.remove(&oldest);
        }
    }

    pub(super) fn item_of(&self, claim: &ClaimId) -> Option<Item> {
        self.lock().items.get(claim).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let hints = Hints::default();
        let claim = |index: usize| ClaimId::new(index.to_string()).unwrap();
        let item = Item::new("code").unwrap();
        (0..=MOST).for_each(|index| hints.remember(&claim(index), &item));
        assert_eq!((hints.item_of(&claim(0)), hints.item_of(&claim(1))), (None, Some(item)));
    }
}
