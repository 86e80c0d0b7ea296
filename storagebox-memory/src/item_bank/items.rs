//! One stripe of a bank's items: an index by text, slots that never move, and a list of free slots.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashTable;
use storagebox_core::{ClaimId, Clock, Counts, Item, ItemState, ListedItem};

use crate::clock::Time;

/// The number of lapsed holds that one take frees. It is above one so that lapsed holds do not accumulate.
const REAPED_PER_POP: usize = 2;

#[derive(Debug, Default)]
pub(super) struct Stripe {
    index: HashTable<u32>,
    slots: Vec<Slot>,
    /// All free slots, and some that were withdrawn since they were pushed.
    free: Vec<u32>,
    /// The ends of timed holds. An end whose hold has changed since is ignored.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
}

#[derive(Debug)]
struct Slot {
    item: Item,
    place: Place,
}

/// The state of an item. Rare variants are boxed, because a bank may have ten million items.
#[derive(Debug)]
pub(super) enum Place {
    Free,
    Held(ClaimId),
    Timed(Box<Timed>),
    Spent(Option<ClaimId>),
    /// `queued` while the slot is still in the list of free slots, so that a restore does not push it twice.
    Withdrawn {
        queued: bool,
    },
}

/// A hold with an end.
#[derive(Debug)]
pub(super) struct Timed {
    by: ClaimId,
    until: Time,
}

impl Slot {
    fn is_lapsed(&self, now: Time) -> bool {
        matches!(&self.place, Place::Timed(hold) if hold.until <= now)
    }

    fn state(&self, now: Time) -> ItemState {
        match &self.place {
            _ if self.is_lapsed(now) => ItemState::Free,
            Place::Free => ItemState::Free,
            Place::Held(by) => ItemState::Held(by.clone()),
            Place::Timed(hold) => ItemState::Held(hold.by.clone()),
            Place::Spent(by) => ItemState::Spent(by.clone()),
            Place::Withdrawn { .. } => ItemState::Withdrawn,
        }
    }
}

impl Stripe {
    /// Adds the item as free, and returns whether it was new.
    pub(super) fn add(&mut self, item: &Item, hash: u64, hasher: impl Fn(&Item) -> u64) -> bool {
        if self.find(item, hash).is_some() {
            return false;
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot { item: item.clone(), place: Place::Free });
        let slots = &self.slots;
        self.index.insert_unique(hash, index, |index| hasher(&slots[*index as usize].item));
        self.free.push(index);
        true
    }

    pub(super) fn find(&self, item: &Item, hash: u64) -> Option<u32> {
        self.index.find(hash, |index| self.slots[*index as usize].item == *item).copied()
    }

    pub(super) fn item(&self, index: u32) -> &Item {
        &self.slots[index as usize].item
    }

    pub(super) fn state(&self, index: u32, now: Time) -> ItemState {
        self.slots[index as usize].state(now)
    }

    /// Returns a free slot, which may be one whose hold has lapsed. The clock is read only if there are timed holds.
    pub(super) fn pop(&mut self, clock: &dyn Clock) -> Option<u32> {
        if !self.ends.is_empty() {
            self.reap(Time::of(clock));
        }
        while let Some(index) = self.free.pop() {
            match &mut self.slots[index as usize].place {
                Place::Free => return Some(index),
                Place::Withdrawn { queued } => *queued = false,
                Place::Held(_) | Place::Timed(_) | Place::Spent(_) => {}
            }
        }
        None
    }

    /// Frees at most `REAPED_PER_POP` slots whose holds have lapsed, those that ended first before others.
    fn reap(&mut self, now: Time) {
        let mut reaped = 0;
        while let Some(Reverse((end, index))) = self.ends.peek().copied() {
            if now < end || reaped == REAPED_PER_POP {
                return;
            }
            self.ends.pop();
            if self.slots[index as usize].is_lapsed(now) {
                self.free(index);
                reaped += 1;
            }
        }
    }

    pub(super) fn hold(&mut self, index: u32, by: &ClaimId, until: Option<Time>) {
        let by = by.clone();
        match until {
            None => self.set(index, Place::Held(by)),
            Some(until) => {
                self.set(index, Place::Timed(Box::new(Timed { by, until })));
                self.ends.push(Reverse((until, index)));
            }
        }
    }

    /// Returns the end of the claim's hold on the slot (inner `None`: never), or `None` if the claim does not hold it.
    pub(super) fn held_by(&self, index: u32, claim: &ClaimId, now: Time) -> Option<Option<Time>> {
        match &self.slots[index as usize].place {
            Place::Held(by) if by == claim => Some(None),
            Place::Timed(hold) if hold.by == *claim && now < hold.until => Some(Some(hold.until)),
            _ => None,
        }
    }

    pub(super) fn set(&mut self, index: u32, place: Place) {
        self.slots[index as usize].place = place;
    }

    pub(super) fn free(&mut self, index: u32) {
        self.set(index, Place::Free);
        self.free.push(index);
    }

    pub(super) fn withdraw(&mut self, index: u32) {
        let queued = matches!(self.slots[index as usize].place, Place::Free);
        self.set(index, Place::Withdrawn { queued });
    }

    pub(super) fn restore(&mut self, index: u32) {
        match self.slots[index as usize].place {
            Place::Withdrawn { queued: true } => self.set(index, Place::Free),
            _ => self.free(index),
        }
    }

    pub(super) fn count(&self, now: Time, counts: &mut Counts) {
        for slot in &self.slots {
            match &slot.place {
                Place::Spent(_) => counts.spent += 1,
                Place::Withdrawn { .. } => counts.withdrawn += 1,
                Place::Timed(hold) if hold.until <= now => counts.free += 1,
                Place::Held(_) | Place::Timed(_) => counts.held += 1,
                Place::Free => counts.free += 1,
            }
        }
    }

    /// Appends at most `room` items from the slot `first` on, and returns how many.
    pub(super) fn list(&self, first: usize, room: usize, now: Time, entries: &mut Vec<ListedItem>) -> usize {
        let slots = self.slots.iter().skip(first).take(room);
        let before = entries.len();
        entries.extend(slots.map(|slot| ListedItem { item: slot.item.clone(), state: slot.state(now) }));
        entries.len() - before
    }
}
