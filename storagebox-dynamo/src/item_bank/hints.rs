//! The items of claims that were taken in this process, so that a `release` needs no read.

use std::collections::HashMap;
use std::sync::Mutex;

use storagebox_core::{ClaimId, Item};

use crate::lock::lock;

/// The largest number of hints; about a megabyte. More of them clear the map, because a missing hint costs only a read.
const MOST: usize = 4_096;

/// Hints may be wrong: a call checks a hint by the condition of its write.
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
    fn hints_do_not_grow_without_end() {
        let (hints, item) = (Hints::default(), Item::new("code").unwrap());
        let claim = |index: usize| ClaimId::new(index.to_string()).unwrap();
        (0..=MOST).for_each(|index| hints.remember(&claim(index), &item));
        assert_eq!((hints.item_of(&claim(0)), hints.item_of(&claim(MOST))), (None, Some(item)));
    }
}
