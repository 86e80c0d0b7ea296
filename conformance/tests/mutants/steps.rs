//! Parts of broken namespaces: pauses between steps, and names that are new to the inner store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storagebox_core::Namespace;

/// Pauses between two steps that should be one, so that all other callers can proceed, even those on delayed threads.
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

/// The state of the mistakes, by namespace.
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

/// A caller that is between two steps. Dropping this value, also with its future, ends that.
pub(crate) struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    /// Enters, and returns the number of callers that were there before.
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

/// A value that other callers see while one caller is between two steps.
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

/// Ids of the mutant that no caller uses.
#[derive(Default)]
pub(crate) struct OwnIds(AtomicU64);

impl OwnIds {
    pub(crate) fn fresh(&self) -> String {
        format!("the mutant's own, {}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Names under which the inner store forgets: a name that starts over is a different name there.
#[derive(Default)]
pub(crate) struct Renamed {
    times: Mutex<HashMap<String, u64>>,
    /// The callers' names, by the names in the inner store.
    above: Mutex<HashMap<String, String>>,
}

impl Renamed {
    /// Returns the name in the inner store.
    pub(crate) fn below(&self, name: &str) -> String {
        self.tagged(name, name)
    }

    /// Returns the text, marked with the number of times that this name has started over.
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

    /// Returns the caller's name for a name in the inner store.
    pub(crate) fn above(&self, below: &str) -> String {
        lock(&self.above).get(below).map_or(below, String::as_str).to_owned()
    }
}
