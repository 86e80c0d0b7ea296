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

#[derive(Debug)]
pub(super) struct Walk {
    lanes: Vec<Mutex<Lane>>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Lane {
    at: i64,
    steps_left: u32,
    random: Rng,
}

impl Default for Walk {
    fn default() -> Self {
        let lane = || Mutex::new(Lane { at: 0, steps_left: 0, random: Rng::new() });
        Self { lanes: (0..LANES).map(|_| lane()).collect(), next: AtomicUsize::new(0) }
    }
}

impl Walk {
    /// The lane that waits longest, and where it is.
    pub(super) fn begin(&self) -> (usize, i64) {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % LANES;
        (number, self.lane(number, |lane| lane.place()))
    }

    /// The lane's taker got the item at this place.
    pub(super) fn go_on(&self, number: usize, place: i64, steps: u32) {
        self.lane(number, |lane| {
            lane.at = place.wrapping_add(1);
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
    fn place(&mut self) -> i64 {
        if self.steps_left == 0 {
            self.at = self.random.i64(..);
            self.steps_left = STEPS;
        }
        self.at
    }
}
