//! Values that were read a short time ago.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storagebox_core::Key;

use crate::clock::{Millis, millis};

/// More keys than this are forgotten all at once: a read is no loss.
const MOST: usize = 10_000;

/// The last value of each key, and when its read began.
#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<HashMap<Key, (i64, Millis)>>);

impl Recent {
    /// The value as it was less than `max_age` ago. No value is so fresh that it counts as read now.
    pub(super) fn find(&self, key: &Key, now: Millis, max_age: Duration) -> Option<i64> {
        let (value, at) = self.lock().get(key).copied()?;
        let age = now.0.checked_sub(at.0).filter(|age| *age >= 0)?;
        (age < millis(max_age)).then_some(value)
    }

    /// Unless a later read was quicker.
    pub(super) fn keep(&self, key: &Key, value: i64, at: Millis) {
        let mut recent = self.lock();
        if recent.len() >= MOST && !recent.contains_key(key) {
            recent.clear();
        }
        let kept = recent.entry(key.clone()).or_insert((value, at));
        if kept.1 <= at {
            *kept = (value, at);
        }
    }

    /// Nothing panics with the lock held.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, (i64, Millis)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_until_it_is_too_old() {
        let (recent, key, age) = (Recent::default(), Key::new("key").unwrap(), Duration::from_millis(10));
        recent.keep(&key, 5, Millis(100));
        let found = [99, 100, 109, 110].map(|now| recent.find(&key, Millis(now), age));
        assert_eq!(found, [None, Some(5), Some(5), None]);
        assert_eq!(recent.find(&key, Millis(100), Duration::ZERO), None, "a strong read");
    }

    #[test]
    fn an_older_read_does_not_replace_a_later_one() {
        let (recent, key) = (Recent::default(), Key::new("key").unwrap());
        recent.keep(&key, 5, Millis(100));
        recent.keep(&key, 4, Millis(90));
        assert_eq!(recent.find(&key, Millis(100), Duration::from_secs(1)), Some(5));
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let recent = Recent::default();
        for number in 0..=MOST {
            recent.keep(&Key::new(number.to_string()).unwrap(), 0, Millis(1));
        }
        assert_eq!(recent.lock().len(), 1);
    }
}
