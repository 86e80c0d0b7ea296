//! Where takes look for a free item: each cursor begins at a random place and goes forward from there (IB-8, IB-9).
//!
//! So no take reads the dead rows of items that other takes have drained. Consecutive takes use neighbouring index
//! entries, so few index pages are written after each checkpoint.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of cursors that are kept for later takes.
const KEPT: usize = 64;
/// The number of takes that use a cursor before it moves to another random place.
const STEPS: u32 = 512;
/// The maximum number of consecutive takes that use the same hint. The next take has no hint, and so looks back at the
/// places that the cursor has passed.
const HINTED: u32 = 16;

/// The cursors that no take is using, the last used cursor at the end.
#[derive(Debug, Default)]
pub(super) struct TakeCursors {
    idle: Mutex<Vec<ScanCursor>>,
}

/// Where a take begins to look for a free item. The place of an item is its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanStart {
    /// The place at which the take begins.
    pub(super) at: i64,
    /// The hint: the last place at which an item may be free.
    pub(super) till: Option<i64>,
    /// The place at which the cursor got the hint. The cursor has passed the places from here to `at`, and has not
    /// looked at them again.
    pub(super) since: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ScanCursor {
    start: ScanStart,
    /// How many consecutive takes used the same hint.
    hinted: u32,
    steps_left: u32,
}

/// Reserves a cursor for one take, so that concurrent takes try different items.
#[derive(Debug)]
pub(super) struct CursorGuard<'a> {
    cursors: &'a TakeCursors,
    cursor: ScanCursor,
}

impl TakeCursors {
    /// Returns the cursor that was used most recently, or a new cursor if all are in use.
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

    /// Moves the cursor behind the place of the item that was taken. `till` is the hint for the next take.
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

    /// Moves the cursor to a random place, because no item is free ahead of it.
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

    /// Makes takes whose answers have the hint `till`. Returns the numbers of the takes that began with this hint.
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
    fn cursor_remembers_the_place_at_which_it_got_its_hint() {
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
    fn concurrent_takes_use_different_cursors() {
        let cursors = TakeCursors::default();
        cursors.begin().go_on(6, 1_000, 1);
        let first = cursors.begin();
        assert_eq!(first.start(), ScanStart { at: 7, till: Some(1_000), since: 6 });
        assert_ne!(cursors.begin().start().at, 7);
        drop(first);
        assert_eq!(cursors.begin().start().at, 7);
    }

    #[test]
    fn cursor_moves_to_a_random_place_after_512_takes() {
        let cursors = TakeCursors::default();
        for place in 0..i64::from(STEPS) - 1 {
            cursors.begin().go_on(place, 1_000, 1);
            assert_eq!(cursors.begin().start().at, place + 1);
        }
        cursors.begin().go_on(511, 1_000, 1);
        assert_ne!(cursors.begin().start().at, 512);
    }
}
