//! Parts of broken namespaces: pauses between steps, and names that are new to the inner store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storagebox_core::Namespace;

/// Pauses between two steps that should be one step, long enough for other callers to make calls.
#[allow(clippy::disallowed_methods, reason = "nothing here depends on how long it is")]
pub(crate) async fn between_steps() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct Namespaces<T>(Mutex<HashMap<Namespace, Arc<T>>>);

impl<T> Default for Namespaces<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Default> Namespaces<T> {
    pub(crate) fn open(&self, name: &Namespace) -> Arc<T> {
        Arc::clone(lock(&self.0).entry(name.clone()).or_default())
    }

    pub(crate) fn all(&self) -> Vec<(Namespace, Arc<T>)> {
        let namespaces = lock(&self.0);
        namespaces.iter().map(|(name, state)| (name.clone(), Arc::clone(state))).collect()
    }
}

/// Counts one caller that is between two steps, until this value is dropped.
pub(crate) struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    /// Counts one more caller, and also returns the number of callers before.
    pub(crate) fn enter(count: &'a AtomicUsize) -> (Self, usize) {
        let before = count.fetch_add(1, Ordering::SeqCst);
        (Self(count), before)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// While this guard exists, other callers see the value of a caller that is between two steps.
pub(crate) struct Shown<'a, T>(&'a Mutex<Option<T>>);

impl<'a, T> Shown<'a, T> {
    pub(crate) fn to_others(place: &'a Mutex<Option<T>>, value: T) -> Self {
        *lock(place) = Some(value);
        Self(place)
    }
}

impl<T> Drop for Shown<'_, T> {
    fn drop(&mut self) {
        *lock(self.0) = None;
    }
}

/// Unique ids for the calls that the mutant makes itself.
#[derive(Default)]
pub(crate) struct OwnIds(AtomicU64);

impl OwnIds {
    pub(crate) fn fresh(&self) -> String {
        format!("the mutant's own, {}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Replaces a forgotten name by a new name in the inner store, as if the inner store had forgotten the name.
#[derive(Default)]
pub(crate) struct Renamed {
    times: Mutex<HashMap<String, u64>>,
    /// The caller's name for each name in the inner store.
    above: Mutex<HashMap<String, String>>,
}

impl Renamed {
    /// Returns the name in the inner store for a caller's name.
    pub(crate) fn below(&self, name: &str) -> String {
        self.tagged(name, name)
    }

    /// Appends to the text how often `name` was forgotten, unless it was never forgotten.
    pub(crate) fn tagged(&self, name: &str, text: &str) -> String {
        match lock(&self.times).get(name) {
            None => text.to_owned(),
            Some(times) => format!("{text}, anew {times}"),
        }
    }

    pub(crate) fn begin_anew(&self, name: &str) {
        *lock(&self.times).entry(name.to_owned()).or_default() += 1;
        lock(&self.above).insert(self.below(name), name.to_owned());
    }

    /// Returns the name by which callers know the namespace that the inner store calls `below`.
    pub(crate) fn above(&self, below: &str) -> String {
        lock(&self.above).get(below).map_or(below, String::as_str).to_owned()
    }
}
