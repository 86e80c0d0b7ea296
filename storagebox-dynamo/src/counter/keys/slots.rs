//! The times of a window, cut into slots: a slot's operations have one set, which goes as a whole once the last that it
//! could have taken has lapsed.

use std::time::Duration;

use crate::clock::{Millis, millis};

/// How many slots a lifetime has. An operation stays for up to one of them more than its lifetime.
pub(crate) const SLOTS: i64 = 16;

/// When operations lapse; never, where there is no lifetime: then all of them are in one slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots(Option<Duration>);

impl Slots {
    pub(super) fn of(lifetime: Option<Duration>) -> Self {
        Self(lifetime)
    }

    /// The slot of a moment.
    pub(super) fn at(self, now: Millis) -> i64 {
        self.0.map_or(0, |lifetime| now.0.max(0) / width(lifetime))
    }

    /// The oldest slot that may have operations which last, if this has passed by every clock.
    pub(super) fn oldest(self, past: Millis) -> i64 {
        self.0.map_or(0, |lifetime| past.before(lifetime).0.max(0) / width(lifetime))
    }

    /// The oldest that a row can have whose newest is this, where clocks differ by no more than the skew: the call that
    /// opened the newest slot removed those before.
    pub(super) fn oldest_beside(self, newest: i64, skew: Duration) -> i64 {
        let begun = self.0.map_or(0, |lifetime| newest.saturating_mul(width(lifetime)));
        self.oldest(Millis(begun).before(skew))
    }
}

/// How long a slot takes, which is how much longer than its lifetime an operation may stay.
pub(crate) fn slot_of(lifetime: Duration) -> Duration {
    Duration::from_millis(width(lifetime).unsigned_abs())
}

/// How many milliseconds a slot takes. What stands in tables does not change.
fn width(lifetime: Duration) -> i64 {
    millis(lifetime).saturating_add(SLOTS - 1) / SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIMES: [u64; 6] = [1, 7, 16, 17, 1_000, 300_000];

    /// Whatever is put into a slot at any moment of it is there for the lifetime, and not for a slot longer.
    #[test]
    fn nothing_goes_before_its_lifetime_and_soon_after() {
        for lifetime in LIFETIMES.map(Duration::from_millis) {
            let slots = Slots::of(Some(lifetime));
            let (width, lifetime) = (width(lifetime), millis(lifetime));
            for at in [0, 1, 15, 16, 999, 1_700_000_000_123] {
                let slot = slots.at(Millis(at));
                assert!(slots.oldest(Millis(at + lifetime - 1)) <= slot, "{at} of {lifetime} went early");
                assert!(slots.oldest(Millis(at + lifetime + width)) > slot, "{at} of {lifetime} stays");
            }
        }
    }

    /// An update names them all, and DynamoDB takes 300 operators in an expression.
    #[test]
    fn there_are_few_slots_where_the_lifetime_is_no_shorter_than_the_skew() {
        for lifetime in LIFETIMES.map(Duration::from_millis) {
            let slots = Slots::of(Some(lifetime));
            let newest = slots.at(Millis(1_700_000_000_123));
            let beside = |skew| newest - slots.oldest_beside(newest, skew) + 1;
            assert!(beside(Duration::ZERO) <= SLOTS + 1, "{lifetime:?}");
            assert!(beside(lifetime) <= 2 * SLOTS + 1, "{lifetime:?}");
        }
    }

    #[test]
    fn a_set_has_one_slot_for_ever() {
        let slots = Slots::of(None);
        let later = Millis(i64::MAX);
        assert_eq!((slots.at(later), slots.oldest(later)), (0, 0));
        assert_eq!(slots.oldest_beside(0, Duration::from_secs(1)), 0);
    }
}
