//! Where takers begin: each at a random place of its own, from which it walks on (IB-8, IB-9).
//!
//! Nobody crosses what others have drained, and neighbours in the index are used one after another, so that few of its
//! pages are written after each checkpoint.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many lanes wait for a taker at most.
const KEPT: usize = 64;
/// How far a lane goes before it begins anew somewhere else.
const STEPS: u32 = 512;
/// How many takes in a row are told up to where there may be more: about as many items as the two cells have of which a
/// lane is told. The hints are as old as the answer, and a lane does not look back at hints that it passed, until it
/// asks again.
const HINTED: u32 = 16;

/// The lanes on which nobody is, the one that was left last at the end.
#[derive(Debug, Default)]
pub(super) struct Walk {
    idle: Mutex<Vec<Lane>>,
}

/// Where a taker looks: from a place on, and up to where there may be more, if that was told. It has not looked back
/// yet at what it left from another place on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) at: i64,
    pub(super) till: Option<i64>,
    pub(super) since: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    start: Start,
    /// Takes in a row that were told the same `till`.
    hinted: u32,
    steps_left: u32,
}

/// A lane that one taker alone is on, until it is dropped: two on the same one would meet at the same items, and each
/// would learn of what the other has left.
#[derive(Debug)]
pub(super) struct OnLane<'a> {
    walk: &'a Walk,
    lane: Lane,
}

impl Walk {
    /// The lane that was left last, if any waits: few lanes are in use, and what they were told is new.
    pub(super) fn begin(&self) -> OnLane<'_> {
        let lane = self.idle().pop().unwrap_or_else(Lane::somewhere);
        OnLane { walk: self, lane }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    fn somewhere() -> Self {
        let at = fastrand::i64(..);
        Self { start: Start { at, till: None, since: at }, hinted: 0, steps_left: STEPS }
    }

    pub(super) fn start(&self) -> Start {
        self.start
    }

    /// The taker got the item at this place, and there may be more up to the other.
    pub(super) fn go_on(&mut self, place: i64, till: i64, steps: u32) {
        let Some(at) = place.checked_add(1).filter(|_| steps < self.steps_left) else {
            return self.leave();
        };
        // A lane that was told something else has asked.
        let (hinted, since) =
            if self.start.till == Some(till) { (self.hinted + 1, self.start.since) } else { (0, place) };
        let is_hint = place < till && hinted < HINTED;
        *self = Self {
            start: Start { at, till: is_hint.then_some(till), since },
            hinted,
            steps_left: self.steps_left - steps,
        };
    }

    /// The taker met nothing ahead of it: the lane begins anew somewhere else.
    pub(super) fn leave(&mut self) {
        *self = Self::somewhere();
    }
}

impl Deref for OnLane<'_> {
    type Target = Lane;

    fn deref(&self) -> &Lane {
        &self.lane
    }
}

impl DerefMut for OnLane<'_> {
    fn deref_mut(&mut self) -> &mut Lane {
        &mut self.lane
    }
}

impl Drop for OnLane<'_> {
    fn drop(&mut self) {
        let mut idle = self.walk.idle();
        if idle.len() < KEPT {
            idle.push(self.lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the takes, of so many of one lane, that are told up to where there may be more: always up to
    /// there.
    fn hinted(takes: i64, till: i64) -> Vec<i64> {
        let walk = Walk::default();
        let told = |place| {
            let mut lane = walk.begin();
            let told = lane.start().till;
            lane.go_on(place, till, 1);
            told == Some(till)
        };
        (0..takes).filter(|place| told(*place)).collect()
    }

    #[test]
    fn a_lane_asks_anew_after_as_many_takes_as_a_cell_has_items() {
        let expected: Vec<i64> = (1..=16).chain(18..=33).chain(35..40).collect();
        assert_eq!(hinted(40, 1_000), expected);
    }

    #[test]
    fn a_lane_asks_anew_at_the_end_of_what_it_was_told() {
        assert_eq!(hinted(8, 4), (1..=4).collect::<Vec<_>>());
    }

    #[test]
    fn a_lane_looks_back_when_it_asks() {
        let walk = Walk::default();
        let since = [(10, 20), (15, 20), (20, 20), (21, 40), (33, 40)].map(|(place, till)| {
            let mut lane = walk.begin();
            lane.go_on(place, till, 1);
            lane.start().since
        });
        assert_eq!(since, [10, 10, 10, 21, 21]);
    }

    #[test]
    fn a_lane_does_not_go_past_the_last_place() {
        let walk = Walk::default();
        walk.begin().go_on(i64::MAX, i64::MAX, 1);
        let start = walk.begin().start();
        assert_eq!((start.till, start.since), (None, start.at));
    }

    #[test]
    fn nobody_else_is_where_a_taker_is() {
        let walk = Walk::default();
        walk.begin().go_on(6, 1_000, 1);
        let first = walk.begin();
        assert_eq!(first.start(), Start { at: 7, till: Some(1_000), since: 6 });
        assert_ne!(walk.begin().start().at, 7);
        drop(first);
        assert_eq!(walk.begin().start().at, 7);
    }

    #[test]
    fn a_lane_begins_anew_after_its_steps() {
        let walk = Walk::default();
        for place in 0..i64::from(STEPS) - 1 {
            walk.begin().go_on(place, 1_000, 1);
            assert_eq!(walk.begin().start().at, place + 1);
        }
        walk.begin().go_on(511, 1_000, 1);
        assert_ne!(walk.begin().start().at, 512);
    }
}
