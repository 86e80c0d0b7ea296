//! The two banks beside each other.

use storagebox::values::ClaimId;

use super::contents::{Contents, Place};
use crate::check::{Check, Comparison as Compared, Mismatch};

/// How many ids are named; the rest is counted.
const NAMED: usize = 1_000;

/// How the bank here differs from the one there.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Ids that have an item there and not here.
    ids: u64,
    /// Free there and not here.
    free: u64,
    /// Here alone, or an id's here that has it not there.
    foreign: u64,
    /// Ids that can take nothing here.
    ended: u64,
    /// Of two ids there, or free and an id's.
    doubled: u64,
    /// There, and of a kind that is not imported.
    left_out: u64,
    pub(super) changed: u64,
    /// The first of the ids that have another item here, or none.
    named: Vec<ClaimId>,
}

impl Comparison {
    /// What an import cannot make good: all that is here must be there, and in the same hands if in any.
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

    /// An id that is to have its item here can take nothing.
    pub(super) fn enter_ended(&mut self, id: &ClaimId) {
        self.ended += 1;
        self.name(id);
    }

    /// Everything, after an import.
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
            Check::IdsAsImported.none(self.ids),
            Check::FreeAsImported.none(self.free),
            Check::NothingElse.none(self.foreign),
            Check::NoneEnded.none(self.ended),
            Check::GivenOnceThere.none(self.doubled),
            Check::AllCarried.none(self.left_out),
            Check::NoChangeThere.none(self.changed),
        ];
        compared.into_iter().filter_map(Compared::mismatch).collect()
    }
}
