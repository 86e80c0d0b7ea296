//! One stripe of a bank's items: an index by text, slots that never move, and a list of free slots.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashTable;
use storagebox_core::{ClaimId, Clock, Counts, Item, ItemState, ListedItem, Result};

use crate::clock::Time;
use crate::transaction::{End, Ending, Open, Pending, Touched};

/// The maximum number of lapsed holds that one take ends. A number above 1 keeps lapsed holds from accumulating.
const REAPED_PER_POP: usize = 2;

/// The number of ends that a stripe may have beyond two for each slot.
const SPARE_ENDS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Stripe {
    index: HashTable<u32>,
    slots: Vec<Slot>,
    /// A stack of all free slots, and of withdrawn slots that were free when they were pushed.
    free: Vec<u32>,
    /// The ends of timed holds, with their slots. `reap` ignores an end if its slot has no lapsed hold, because the
    /// hold has changed since.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
    /// Slots of items whose addition was rolled back, for new items.
    vacant: Vec<u32>,
    pending: Pending<u32, Place>,
}

#[derive(Debug)]
struct Slot {
    item: Item,
    place: Place,
}

/// The state of an item. Large variants are boxed to save memory, because a bank may have ten million items.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The bank does not have the item: `add` has not finished, or its transaction was rolled back.
    Absent,
    Free,
    Held(ClaimId),
    Timed(Box<Timed>),
    Spent(Option<ClaimId>),
    /// `queued` says whether the slot is still in the list of free slots.
    Withdrawn {
        queued: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Timed {
    by: ClaimId,
    until: Time,
}

impl Place {
    fn is_lapsed(&self, now: Time) -> bool {
        matches!(self, Self::Timed(hold) if hold.until <= now)
    }

    fn is_queued(&self) -> bool {
        matches!(self, Self::Free | Self::Withdrawn { queued: true })
    }

    fn state(&self, now: Time) -> ItemState {
        match self {
            _ if self.is_lapsed(now) => ItemState::Free,
            Self::Absent => ItemState::Unknown,
            Self::Free => ItemState::Free,
            Self::Held(by) => ItemState::Held(by.clone()),
            Self::Timed(hold) => ItemState::Held(hold.by.clone()),
            Self::Spent(by) => ItemState::Spent(by.clone()),
            Self::Withdrawn { .. } => ItemState::Withdrawn,
        }
    }
}

impl Stripe {
    /// Returns the slot of the item. Creates a slot with the state `Absent` for a new item.
    pub(super) fn enter(&mut self, item: &Item, hash: u64, hasher: impl Fn(&Item) -> u64) -> u32 {
        if let Some(known) = self.find(item, hash) {
            return known;
        }
        let slot = Slot { item: item.clone(), place: Place::Absent };
        let index = self.vacant.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(index as usize) {
            Some(vacant) => *vacant = slot,
            None => self.slots.push(slot),
        }
        let slots = &self.slots;
        self.index.insert_unique(hash, index, |index| hasher(&slots[*index as usize].item));
        index
    }

    /// Whether the bank does not have the slot's item. Ignores the changes of other open transactions.
    pub(super) fn is_absent(&self, index: u32, by: Option<&Open>) -> bool {
        matches!(self.seen_by(by, index), Place::Absent)
    }

    /// Reserves the slot for a change. Returns `Contention` if another transaction has changed the slot.
    pub(super) fn own(&mut self, index: u32, by: Option<&Open>, touched: impl FnOnce() -> Touched) -> Result<()> {
        if by.is_none() && self.pending.is_empty() {
            return Ok(());
        }
        let slots = &self.slots;
        self.pending.own(&index, by, touched, || slots[index as usize].place.clone())
    }

    /// Returns the slot's state without the changes of other open transactions.
    fn seen_by(&self, by: Option<&Open>, index: u32) -> &Place {
        self.pending.of_another(&index, by).map_or(&self.slots[index as usize].place, |(_, before)| before)
    }

    /// Returns another open transaction whose rollback would free an item.
    pub(super) fn taken_by_another(&self, by: Option<&Open>, clock: &dyn Clock) -> Option<&Open> {
        if self.pending.is_empty() {
            return None;
        }
        let now = Time::of(clock);
        let mut others = self.pending.of_others(by);
        others.find_map(|(_, owner, before)| (before.state(now) == ItemState::Free).then_some(owner))
    }

    pub(super) fn find(&self, item: &Item, hash: u64) -> Option<u32> {
        self.index.find(hash, |index| self.slots[*index as usize].item == *item).copied()
    }

    pub(super) fn item(&self, index: u32) -> &Item {
        &self.slots[index as usize].item
    }

    pub(super) fn state(&self, index: u32, by: Option<&Open>, now: Time) -> ItemState {
        self.seen_by(by, index).state(now)
    }

    /// Ends some lapsed holds, and removes a free slot from the list of free slots. Returns `None` if no slot is free.
    pub(super) fn pop(&mut self, by: Option<&Open>, clock: &dyn Clock) -> Option<u32> {
        if !self.ends.is_empty() {
            self.reap(by, Time::of(clock));
        }
        let mut of_others = vec![];
        let mut found = None;
        while let Some(index) = self.free.pop_if(|_| found.is_none()) {
            match &mut self.slots[index as usize].place {
                _ if self.pending.of_another(&index, by).is_some() => of_others.push(index),
                Place::Free => found = Some(index),
                Place::Withdrawn { queued } => *queued = false,
                Place::Absent | Place::Held(_) | Place::Timed(_) | Place::Spent(_) => {}
            }
        }
        self.free.append(&mut of_others);
        found
    }

    /// Ends at most `REAPED_PER_POP` lapsed holds, the earliest end first, and frees their slots.
    fn reap(&mut self, by: Option<&Open>, now: Time) {
        let (mut reaped, mut of_others) = (0, vec![]);
        while let Some(Reverse((end, index))) = self.ends.peek().copied() {
            if now < end || reaped == REAPED_PER_POP {
                break;
            }
            self.ends.pop();
            if self.pending.of_another(&index, by).is_some() {
                of_others.push(Reverse((end, index)));
            } else if self.slots[index as usize].place.is_lapsed(now) {
                self.free(index);
                reaped += 1;
            }
        }
        self.ends.extend(of_others);
    }

    pub(super) fn hold(&mut self, index: u32, by: &ClaimId, until: Option<Time>) {
        let by = by.clone();
        match until {
            None => self.set(index, Place::Held(by)),
            Some(until) => {
                self.set(index, Place::Timed(Box::new(Timed { by, until })));
                self.add_end(index);
            }
        }
    }

    /// Adds the end of the slot's hold, if it is timed. Removes the ends of earlier holds once they are too many.
    fn add_end(&mut self, index: u32) {
        self.ends.extend(self.end_of(index));
        if self.ends.len() > 2 * self.slots.len() + SPARE_ENDS {
            self.ends = (0..self.slots.len() as u32).filter_map(|index| self.end_of(index)).collect();
        }
    }

    fn end_of(&self, index: u32) -> Option<Reverse<(Time, u32)>> {
        match &self.slots[index as usize].place {
            Place::Timed(hold) => Some(Reverse((hold.until, index))),
            _ => None,
        }
    }

    /// Returns the end of the claim's hold on the slot: `Some(None)` if the hold never ends, `None` if there is no
    /// hold.
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

    pub(super) fn count(&self, by: Option<&Open>, now: Time, counts: &mut Counts) {
        for index in 0..self.slots.len() as u32 {
            match self.seen_by(by, index) {
                Place::Absent => {}
                Place::Spent(_) => counts.spent += 1,
                Place::Withdrawn { .. } => counts.withdrawn += 1,
                Place::Timed(hold) if hold.until <= now => counts.free += 1,
                Place::Held(_) | Place::Timed(_) => counts.held += 1,
                Place::Free => counts.free += 1,
            }
        }
    }

    /// Appends the items from the slot `first` on, until `entries` has `limit` items. Returns the next slot.
    pub(super) fn list(
        &self,
        first: usize,
        limit: usize,
        (by, now): (Option<&Open>, Time),
        entries: &mut Vec<ListedItem>,
    ) -> usize {
        let mut next = first;
        while entries.len() < limit && next < self.slots.len() {
            let state = self.state(next as u32, by, now);
            if state != ItemState::Unknown {
                entries.push(ListedItem { item: self.slots[next].item.clone(), state });
            }
            next += 1;
        }
        next
    }

    /// Restores the state that a slot had before a transaction.
    fn put_back(&mut self, index: u32, mut before: Place) {
        let was_queued = self.slots[index as usize].place.is_queued();
        match &mut before {
            Place::Withdrawn { queued } => *queued = was_queued,
            Place::Free if !was_queued => self.free.push(index),
            Place::Free | Place::Timed(_) | Place::Absent | Place::Held(_) | Place::Spent(_) => {}
        }
        if was_queued && !before.is_queued() {
            // The slot is near the end of the list, because the transaction pushed it.
            let queued = self.free.iter().rposition(|queued| *queued == index);
            queued.map(|queued| self.free.swap_remove(queued));
        }
        self.set(index, before);
        self.add_end(index);
    }
}

impl Ending for Stripe {
    const RANK: u8 = 1;

    fn end(&mut self, transaction: &Open, how: End) {
        let mut absent = vec![];
        for (index, before) in self.pending.end(transaction) {
            if how == End::Rollback {
                self.put_back(index, before);
            }
            if matches!(self.slots[index as usize].place, Place::Absent) {
                absent.push(index);
            }
        }
        if !absent.is_empty() {
            self.index.retain(|index| !absent.contains(index));
            self.vacant.append(&mut absent);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use storagebox_core::ManualClock;

    use super::*;

    /// Regression: each extension and each rollback left an end until its time came.
    #[test]
    fn ends_of_earlier_holds_are_removed_and_each_hold_still_lapses() {
        let (mut stripe, clock) = (Stripe::default(), ManualClock::new());
        let start = Time::of(&clock);
        let until = |seconds| start.after(Duration::from_secs(seconds));
        let claim = ClaimId::new("ada").unwrap();
        let slots = ["one", "other"].map(|item| stripe.enter(&Item::new(item).unwrap(), 0, |_| 0));
        for number in 0..1_000 {
            for slot in slots {
                stripe.hold(slot, &claim, Some(until(2_000 + number)));
                stripe.put_back(slot, Place::Timed(Box::new(Timed { by: claim.clone(), until: until(1_000) })));
            }
        }
        assert!(stripe.ends.len() <= 2 * slots.len() + SPARE_ENDS, "{} ends", stripe.ends.len());
        assert_eq!(stripe.pop(None, &clock), None);
        clock.advance(Duration::from_secs(1_000));
        let mut popped = [stripe.pop(None, &clock), stripe.pop(None, &clock)];
        popped.sort();
        assert_eq!(popped, slots.map(Some));
    }
}
