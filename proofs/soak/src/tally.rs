//! Counts of what happens during the run of a backend.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// The maximum number of broken promises that are recorded.
const KEPT: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    answers: AtomicU64,
    dropped: AtomicU64,
    errors: AtomicU64,
    forgotten: AtomicU64,
    faults: AtomicU64,
    broken: AtomicBool,
    wrong: Mutex<Vec<String>>,
}

impl Tally {
    /// Returns whether callers continue: `end` is not reached and no promise is broken.
    pub(crate) fn goes_on(&self, end: Instant) -> bool {
        Instant::now() < end && !self.broken.load(Ordering::Relaxed)
    }

    pub(crate) fn answered(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.errors.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn forgot(&self, entries: u64) {
        self.forgotten.fetch_add(entries, Ordering::Relaxed);
    }

    pub(crate) fn struck(&self) {
        self.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// Records a broken promise, and stops all callers.
    pub(crate) fn wrong(&self, what: String) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.len() < KEPT {
            wrong.push(what);
        }
        self.broken.store(true, Ordering::Relaxed);
    }

    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Returns the descriptions of the broken promises.
    pub(crate) fn found(&self) -> Vec<String> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [answers, dropped, errors, forgotten, faults] =
            [&self.answers, &self.dropped, &self.errors, &self.forgotten, &self.faults]
                .map(|count| count.load(Ordering::Relaxed));
        write!(f, "{answers} answers, {dropped} calls dropped, {errors} errors, {faults} faults, {forgotten} forgotten")
    }
}
