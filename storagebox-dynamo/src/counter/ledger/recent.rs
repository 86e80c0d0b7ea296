//! Values that were read recently.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use storagebox_core::Key;

use crate::clock::{Millis, millis};
use crate::lock::lock;

/// The largest number of keys in the map. One more key clears the map, which costs only reads.
const MOST: usize = 10_000;

/// The last value of each key, and when its read began.
#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<HashMap<Key, (i64, Millis)>>);

impl Recent {
    /// Returns a value that was read less than `max_age` ago.
    pub(super) fn find(&self, key: &Key, now: Millis, max_age: Duration) -> Option<i64> {
        let (value, at) = lock(&self.0).get(key).copied()?;
        let age = now.0.checked_sub(at.0).filter(|age| *age >= 0)?;
        (age < millis(max_age)).then_some(value)
    }

    /// Stores a value, unless the stored value is from a later read.
    pub(super) fn keep(&self, key: &Key, value: i64, at: Millis) {
        let mut recent = lock(&self.0);
        if recent.len() >= MOST && !recent.contains_key(key) {
            recent.clear();
        }
        let kept = recent.entry(key.clone()).or_insert((value, at));
        if kept.1 <= at {
            *kept = (value, at);
        }
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
    fn an_older_value_does_not_replace_a_newer_value() {
        let (recent, key) = (Recent::default(), Key::new("key").unwrap());
        recent.keep(&key, 5, Millis(100));
        recent.keep(&key, 4, Millis(90));
        assert_eq!(recent.find(&key, Millis(100), Duration::from_secs(1)), Some(5));
    }

    #[test]
    fn recent_values_are_cleared_at_the_limit() {
        let recent = Recent::default();
        for number in 0..=MOST {
            recent.keep(&Key::new(number.to_string()).unwrap(), 0, Millis(1));
        }
        assert_eq!(lock(&recent.0).len(), 1);
    }
}
