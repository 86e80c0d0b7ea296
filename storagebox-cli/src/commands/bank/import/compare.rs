//! Compares two banks: `here` is the bank that imports, and `there` is the other bank.

use storagebox::values::ClaimId;

use super::contents::{Contents, Place};
use crate::check::{Check, Mismatch};

/// The maximum number of ids that a comparison names.
const NAMED: usize = 1_000;

/// The differences between the other bank and the bank that imports it.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The number of ids that do not have their items in the importing bank.
    ids: u64,
    /// The number of items that are free in the other bank, but not in the importing bank.
    free: u64,
    /// The number of items in the importing bank that the other bank does not have, or whose states contradict the
    /// other bank.
    foreign: u64,
    /// The number of ids whose claims in the importing bank have ended or hold another item.
    ended: u64,
    /// The number of items that one of the two banks lists twice, with different states or ids.
    doubled: u64,
    /// The number of items of the other bank that an import leaves out because of their states.
    left_out: u64,
    pub(super) changed: u64,
    /// The first ids that differ between the banks.
    named: Vec<ClaimId>,
}

impl Comparison {
    /// Returns the differences that an import cannot repair, such as an item that has different ids in the two banks.
    pub(super) fn obstacles(there: &Contents, here: &Contents) -> Self {
        let mut found = Self::default();
        for (item, place) in here.places() {
            match (place, there.place(item)) {
                (Place::Free | Place::Aside, Some(Place::Free | Place::Given(_))) => {}
                (Place::Given(_), Some(other)) if place == other => {}
                _ => found.enter_foreign(place),
            }
        }
        found
    }

    /// Counts an id that cannot take its item, because its claim has ended or holds another item.
    pub(super) fn enter_ended(&mut self, id: &ClaimId) {
        self.ended += 1;
        self.name(id);
    }

    /// Compares both banks completely, after an import.
    pub(super) fn whole(there: &Contents, here: &Contents) -> Self {
        let mut found = Self { doubled: there.doubled + here.doubled, ..Self::default() };
        for (item, place) in there.places() {
            let is_same = here.place(item) == Some(place);
            match place {
                Place::Free => found.free += u64::from(!is_same),
                Place::Given(id) if !is_same => found.enter_id(id),
                Place::Given(_) => {}
                Place::Aside | Place::Elsewhere => found.left_out += 1,
            }
        }
        for id in &there.second {
            found.name(id);
        }
        for (item, place) in here.places() {
            let is_free_there = there.place(item) == Some(&Place::Free);
            if there.place(item).is_none() || is_free_there && *place != Place::Free {
                found.enter_foreign(place);
            }
        }
        found
    }

    fn enter_id(&mut self, id: &ClaimId) {
        self.ids += 1;
        self.name(id);
    }

    fn enter_foreign(&mut self, place: &Place) {
        self.foreign += 1;
        if let Place::Given(id) = place {
            self.name(id);
        }
    }

    fn name(&mut self, id: &ClaimId) {
        if self.named.len() < NAMED {
            self.named.push(id.clone());
        }
    }

    pub(super) fn named(&self) -> &[ClaimId] {
        &self.named
    }

    pub(super) fn has_any(&self) -> bool {
        !self.mismatches().is_empty()
    }

    pub(super) fn mismatches(&self) -> Vec<Mismatch> {
        let compared = [
            Check::IDS_AS_IMPORTED.none(self.ids),
            Check::FREE_AS_IMPORTED.none(self.free),
            Check::NOTHING_ELSE.none(self.foreign),
            Check::NONE_ENDED.none(self.ended),
            Check::GIVEN_ONCE_THERE.none(self.doubled),
            Check::ALL_CARRIED.none(self.left_out),
            Check::NO_CHANGE_THERE.none(self.changed),
        ];
        compared.into_iter().flatten().collect()
    }
}
