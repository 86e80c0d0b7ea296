//! Striped locks: each lock covers a part of the keys, so that calls with different keys rarely wait for each other.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox_core::{Cursor, Error, Page, Result};

pub(crate) const STRIPES: usize = 64;

/// A map or another collection in stripes, each with its own lock.
#[derive(Debug)]
pub(crate) struct Striped<T> {
    stripes: Box<[Mutex<T>]>,
    hasher: RandomState,
}

impl<T: Default> Default for Striped<T> {
    fn default() -> Self {
        let stripes = (0..STRIPES).map(|_| Mutex::default()).collect();
        Self { stripes, hasher: RandomState::new() }
    }
}

impl<T> Striped<T> {
    pub(crate) fn hash(&self, key: &(impl Hash + ?Sized)) -> u64 {
        self.hasher.hash_one(key)
    }

    pub(crate) fn stripe_of(hash: u64) -> usize {
        // Hash tables use the lowest and the highest bits.
        (hash >> 32) as usize % STRIPES
    }

    /// Locks a stripe, even if its lock is poisoned.
    pub(crate) fn lock(&self, stripe: usize) -> MutexGuard<'_, T> {
        // A step that panics leaves its stripe consistent.
        self.stripes[stripe % STRIPES].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lock_for(&self, key: &(impl Hash + ?Sized)) -> MutexGuard<'_, T> {
        self.lock(Self::stripe_of(self.hash(key)))
    }

    /// Calls `visit` on each stripe with the remaining budget. Returns the used part of the budget.
    pub(crate) fn spend(&self, budget: usize, mut visit: impl FnMut(&mut T, usize) -> usize) -> usize {
        let mut left = budget;
        for stripe in 0..STRIPES {
            left = left.saturating_sub(visit(&mut self.lock(stripe), left));
        }
        budget - left
    }
}

/// Returns a page of the entries that `show` returns, in the order of stripe and key. `seen` returns the map of a
/// stripe.
pub(crate) fn page<S, K, V, E>(
    stripes: &Striped<S>,
    cursor: Option<&Cursor>,
    limit: usize,
    seen: impl Fn(&S) -> Cow<'_, BTreeMap<K, V>>,
    mut show: impl FnMut(&K, &V) -> Option<E>,
) -> Result<Page<E>>
where
    K: AsRef<str> + Borrow<str> + Clone + Ord,
    V: Clone,
{
    let (mut stripe, mut after) = position(cursor, limit)?;
    let mut entries = Vec::new();
    while stripe < STRIPES {
        for (key, value) in seen(&stripes.lock(stripe)).range::<str, _>(beyond(after.as_deref())) {
            if entries.len() == limit {
                let last = after.unwrap_or_default();
                return Ok(Page { entries, next: Some(Cursor::new(format!("{stripe}:{last}"))) });
            }
            entries.extend(show(key, value));
            after = Some(key.as_ref().to_owned());
        }
        (stripe, after) = (stripe + 1, None);
    }
    Ok(Page { entries, next: None })
}

type KeyRange<'a> = (std::ops::Bound<&'a str>, std::ops::Bound<&'a str>);

fn beyond(key: Option<&str>) -> KeyRange<'_> {
    use std::ops::Bound::{Excluded, Unbounded};
    (key.map_or(Unbounded, Excluded), Unbounded)
}

/// Returns the stripe of a cursor, and the last listed key of this stripe.
pub(crate) fn position(cursor: Option<&Cursor>, limit: usize) -> Result<(usize, Option<String>)> {
    if limit == 0 {
        return Err(Error::invalid("limit", "must be at least 1"));
    }
    let Some(cursor) = cursor else {
        return Ok((0, None));
    };
    let (stripe, key) = cursor.as_str().split_once(':').ok_or_else(not_ours)?;
    let stripe = stripe.parse().ok().filter(|stripe| *stripe < STRIPES).ok_or_else(not_ours)?;
    Ok((stripe, (!key.is_empty()).then(|| key.to_owned())))
}

pub(crate) fn not_ours() -> Error {
    Error::invalid("cursor", "was not made by this namespace")
}
