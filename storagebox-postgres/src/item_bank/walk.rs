//! Where takers begin: each at a random place of its own, from which it walks on (IB-8, IB-9).
//!
//! Nobody crosses what others have drained, and neighbours on the disk are used one after another, so that few pages
//! are written after each checkpoint.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;

/// As many as there are connections by default.
const LANES: usize = 16;
/// How far a lane goes before it begins anew somewhere else.
const STEPS: u32 = 512;
/// How many takes in a row are told up to where there may be more: about as many as a cell has items. It was told of cells as
/// they were then; meanwhile they may be smaller, and whoever was told does not look back at those that it leaves.
const HINTED: u32 = 16;

#[derive(Debug)]
pub(super) struct Walk {
    lanes: Vec<Mutex<Lane>>,
    next: AtomicUsize,
}

/// Where a taker looks: from a place on, and up to where there may be more, if that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) at: i64,
    pub(super) till: Option<i64>,
}

#[derive(Debug)]
struct Lane {
    start: Start,
    /// Takes in a row that were told the same `till`.
    hinted: u32,
    steps_left: u32,
    random: Rng,
}

impl Default for Walk {
    fn default() -> Self {
        let start = Start { at: 0, till: None };
        let lane = || Mutex::new(Lane { start, hinted: 0, steps_left: 0, random: Rng::new() });
        Self { lanes: (0..LANES).map(|_| lane()).collect(), next: AtomicUsize::new(0) }
    }
}

impl Walk {
    /// The lane that waits longest, and where it is.
    pub(super) fn begin(&self) -> (usize, Start) {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % LANES;
        (number, self.lane(number, |lane| lane.place()))
    }

    /// The lane's taker got the item at this place, and there may be more up to the other.
    pub(super) fn go_on(&self, number: usize, place: i64, till: i64, steps: u32) {
        self.lane(number, |lane| {
            lane.hinted = if lane.start.till == Some(till) { lane.hinted + 1 } else { 0 };
            let is_hint = place < till && lane.hinted < HINTED;
            lane.start = Start { at: place.wrapping_add(1), till: is_hint.then_some(till) };
            lane.steps_left = lane.steps_left.saturating_sub(steps);
        });
    }

    /// The lane met nothing ahead of it.
    pub(super) fn leave(&self, number: usize) {
        self.lane(number, |lane| lane.steps_left = 0);
    }

    fn lane<T>(&self, number: usize, visit: impl FnOnce(&mut Lane) -> T) -> T {
        visit(&mut self.lanes[number % LANES].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Lane {
    fn place(&mut self) -> Start {
        if self.steps_left == 0 {
            self.start = Start { at: self.random.i64(..), till: None };
            self.steps_left = STEPS;
        }
        self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the takes, of so many of one lane, that are told up to where there may be more: always up to there.
    fn hinted(takes: i64, till: i64) -> Vec<i64> {
        let walk = Walk::default();
        let told = |place| {
            let told = walk.lane(0, |lane| lane.place()).till;
            walk.go_on(0, place, till, 1);
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
}
