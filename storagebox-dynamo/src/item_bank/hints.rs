//! The items of claims that were taken in this process, so that a `release` needs no read.

use std::collections::HashMap;
use std::sync::Mutex;

use storagebox_core::{ClaimId, Item};

use crate::lock::lock;

/// The largest number of hints: about a megabyte. One more hint clears the map, because a missing hint costs only a
/// read.
const MOST: usize = 4_096;

/// The items that claims probably have. A hint may be wrong, so each write that uses a hint has a condition.
#[derive(Debug, Default)]
pub(super) struct Hints(Mutex<HashMap<ClaimId, Item>>);

impl Hints {
    pub(super) fn remember(&self, claim: &ClaimId, item: &Item) {
        let mut items = lock(&self.0);
        if items.len() >= MOST {
            items.clear();
        }
        items.insert(claim.clone(), item.clone());
    }

    pub(super) fn item_of(&self, claim: &ClaimId) -> Option<Item> {
        lock(&self.0).get(claim).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_cleared_at_the_limit() {
        let (hints, item) = (Hints::default(), Item::new("code").unwrap());
        let claim = |index: usize| ClaimId::new(index.to_string()).unwrap();
        (0..=MOST).for_each(|index| hints.remember(&claim(index), &item));
        assert_eq!((hints.item_of(&claim(0)), hints.item_of(&claim(MOST))), (None, Some(item)));
    }
}
