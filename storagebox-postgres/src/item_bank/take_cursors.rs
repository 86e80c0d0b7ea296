//! Where takes look for a free item: each cursor begins at a random place and goes forward from there (IB-8, IB-9).
//!
//! So no take reads the dead rows of items that other takes have drained. Consecutive takes use neighbouring index
//! entries, so few index pages are written after each checkpoint.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most cursors that are kept for later takes.
const KEPT: usize = 64;
/// How many places a cursor goes forward before it begins at another random place.
const STEPS: u32 = 512;
/// The most takes in a row that use the same `till`. The next take uses none, and so looks back at the places that the
/// cursor has passed.
const HINTED: u32 = 16;

/// The cursors that no take uses. The one that was used last is at the end.
#[derive(Debug, Default)]
pub(super) struct TakeCursors {
    idle: Mutex<Vec<ScanCursor>>,
}

/// The place where a take begins (`at`), and the place up to which items may be free (`till`). The cursor has passed
/// the places between `since` and `at`, and has not looked at them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanStart {
    pub(super) at: i64,
    pub(super) till: Option<i64>,
    pub(super) since: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ScanCursor {
    start: ScanStart,
    /// How many takes in a row used the same `till`.
    hinted: u32,
    steps_left: u32,
}

/// A cursor that only one take uses, until the guard is dropped. Two takes with one cursor would try the same items.
#[derive(Debug)]
pub(super) struct CursorGuard<'a> {
    cursors: &'a TakeCursors,
    cursor: ScanCursor,
}

impl TakeCursors {
    /// Returns the idle cursor that was used last, or a new cursor if none is idle.
    pub(super) fn begin(&self) -> CursorGuard<'_> {
        let cursor = self.idle().pop().unwrap_or_else(ScanCursor::somewhere);
        CursorGuard { cursors: self, cursor }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<ScanCursor>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScanCursor {
    fn somewhere() -> Self {
        let at = fastrand::i64(..);
        Self { start: ScanStart { at, till: None, since: at }, hinted: 0, steps_left: STEPS }
    }

    pub(super) fn start(&self) -> ScanStart {
        self.start
    }

    /// Moves the cursor behind the item that was taken at `place`. More items may be free up to `till`.
    pub(super) fn go_on(&mut self, place: i64, till: i64, steps: u32) {
        let Some(at) = place.checked_add(1).filter(|_| steps < self.steps_left) else {
            return self.leave();
        };
        // Another `till` comes from a new answer.
        let (hinted, since) =
            if self.start.till == Some(till) { (self.hinted + 1, self.start.since) } else { (0, place) };
        let is_hint = place < till && hinted < HINTED;
        *self = Self {
            start: ScanStart { at, till: is_hint.then_some(till), since },
            hinted,
            steps_left: self.steps_left - steps,
        };
    }

    /// Moves the cursor to a random place, because nothing is free ahead of it.
    pub(super) fn leave(&mut self) {
        *self = Self::somewhere();
    }
}

impl Deref for CursorGuard<'_> {
    type Target = ScanCursor;

    fn deref(&self) -> &ScanCursor {
        &self.cursor
    }
}

impl DerefMut for CursorGuard<'_> {
    fn deref_mut(&mut self) -> &mut ScanCursor {
        &mut self.cursor
    }
}

impl Drop for CursorGuard<'_> {
    fn drop(&mut self) {
        let mut idle = self.cursors.idle();
        if idle.len() < KEPT {
            idle.push(self.cursor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes this many takes with one cursor, each answered with the same `till`. Returns which takes began with this
    /// `till`.
    fn hinted(takes: i64, till: i64) -> Vec<i64> {
        let cursors = TakeCursors::default();
        let told = |place| {
            let mut cursor = cursors.begin();
            let told = cursor.start().till;
            cursor.go_on(place, till, 1);
            told == Some(till)
        };
        (0..takes).filter(|place| told(*place)).collect()
    }

    #[test]
    fn cursor_drops_its_hint_after_sixteen_takes() {
        let expected: Vec<i64> = (1..=16).chain(18..=33).chain(35..40).collect();
        assert_eq!(hinted(40, 1_000), expected);
    }

    #[test]
    fn cursor_drops_a_hint_that_it_has_passed() {
        assert_eq!(hinted(8, 4), (1..=4).collect::<Vec<_>>());
    }

    #[test]
    fn cursor_looks_back_to_the_start_of_its_hint() {
        let cursors = TakeCursors::default();
        let since = [(10, 20), (15, 20), (20, 20), (21, 40), (33, 40)].map(|(place, till)| {
            let mut cursor = cursors.begin();
            cursor.go_on(place, till, 1);
            cursor.start().since
        });
        assert_eq!(since, [10, 10, 10, 21, 21]);
    }

    #[test]
    fn a_cursor_does_not_go_past_the_last_place() {
        let cursors = TakeCursors::default();
        cursors.begin().go_on(i64::MAX, i64::MAX, 1);
        let start = cursors.begin().start();
        assert_eq!((start.till, start.since), (None, start.at));
    }

    #[test]
    fn no_two_takes_use_one_cursor() {
        let cursors = TakeCursors::default();
        cursors.begin().go_on(6, 1_000, 1);
        let first = cursors.begin();
        assert_eq!(first.start(), ScanStart { at: 7, till: Some(1_000), since: 6 });
        assert_ne!(cursors.begin().start().at, 7);
        drop(first);
        assert_eq!(cursors.begin().start().at, 7);
    }

    #[test]
    fn cursor_moves_to_a_random_place_after_its_steps() {
        let cursors = TakeCursors::default();
        for place in 0..i64::from(STEPS) - 1 {
            cursors.begin().go_on(place, 1_000, 1);
            assert_eq!(cursors.begin().start().at, place + 1);
        }
        cursors.begin().go_on(511, 1_000, 1);
        assert_ne!(cursors.begin().start().at, 512);
    }
}
