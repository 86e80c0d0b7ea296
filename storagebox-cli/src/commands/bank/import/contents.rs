//! The contents of a bank, as one listing shows them.

use std::collections::HashMap;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use storagebox::bank::{ClaimState, HoldState, ItemState, ListedItem};
use storagebox::values::{ClaimId, Item};
use storagebox::{Bank, Result};

use crate::commands::pages::{PAGE, Pages};
use crate::progress::Progress;

const CONCURRENCY: usize = 64;

/// The state of an item, as far as an import needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    /// Held by this id, without a deadline.
    Given(ClaimId),
    /// Withdrawn.
    Aside,
    /// Held until a deadline, or spent.
    Elsewhere,
}

#[derive(Debug, Default)]
pub(super) struct Contents {
    items: HashMap<Item, Place>,
    /// The number of items that are listed twice, with different states or ids.
    pub(super) doubled: u64,
    /// The larger id of each item that is listed with two ids. The smaller id is in `items`.
    pub(super) second: Vec<ClaimId>,
}

impl Contents {
    pub(super) async fn read(bank: &Bank) -> Result<Self> {
        let progress = Progress::of_items("reading", bank.counts().await?.total());
        let (mut contents, mut pages) = (Self::default(), Pages::of(|| bank.list()));
        while let Some(entries) = pages.next(PAGE).await? {
            let places = stream::iter(entries).map(|entry| placed(entry, bank));
            let mut places = places.buffer_unordered(CONCURRENCY);
            while let Some((item, place)) = places.try_next().await? {
                contents.enter(item, place);
                progress.item();
            }
        }
        Ok(contents)
    }

    /// Enters a listed item. Of two entries of an item, keeps the entry with an id, or the entry with the smaller id.
    pub(super) fn enter(&mut self, item: Item, place: Place) {
        let Some(known) = self.items.get_mut(&item) else {
            self.items.insert(item, place);
            return;
        };
        // The choice does not depend on the order of the listing.
        let (first, second) = match (known.clone(), place) {
            (Place::Given(one), Place::Given(two)) if two < one => (Place::Given(two), Place::Given(one)),
            (known @ Place::Given(_), place) => (known, place),
            (known, place @ Place::Given(_)) => (place, known),
            (known, place) => (known, place),
        };
        self.doubled += u64::from(first != second);
        if let (true, Place::Given(id)) = (first != second, second) {
            self.second.push(id);
        }
        *known = first;
    }

    pub(super) fn place(&self, item: &Item) -> Option<&Place> {
        self.items.get(item)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = (&Item, &Place)> {
        self.items.iter()
    }

    pub(super) fn given(&self) -> impl Iterator<Item = (&Item, &ClaimId)> {
        self.items.iter().filter_map(|(item, place)| match place {
            Place::Given(id) => Some((item, id)),
            _ => None,
        })
    }

    pub(super) fn free(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|(_, place)| **place == Place::Free).map(|(item, _)| item)
    }

    pub(super) fn ids(&self) -> u64 {
        self.given().count() as u64
    }

    /// Counts the items whose states differ, or that only one of the two contents has.
    pub(super) fn differences(&self, other: &Self) -> u64 {
        let moved = self.items.iter().filter(|(item, place)| other.place(item) != Some(place)).count();
        let new = other.items.keys().filter(|item| self.place(item).is_none()).count();
        (moved + new) as u64
    }
}

/// Returns the item with its `Place`.
async fn placed(entry: ListedItem, bank: &Bank) -> Result<(Item, Place)> {
    let place = match entry.state {
        ItemState::Free => Place::Free,
        ItemState::Withdrawn => Place::Aside,
        // A listing does not show how long a hold lasts.
        ItemState::Held(claim) => match is_for_good(&entry.item, &claim, bank).await? {
            true => Place::Given(claim),
            false => Place::Elsewhere,
        },
        ItemState::Unknown | ItemState::Spent(_) => Place::Elsewhere,
    };
    Ok((entry.item, place))
}

async fn is_for_good(item: &Item, claim: &ClaimId, bank: &Bank) -> Result<bool> {
    let state = bank.get(claim).await?;
    Ok(matches!(state, ClaimState::Held(held) if held.item == *item && held.hold == HoldState::Forever))
}
