//! The messages that are being processed, and how long other messages wait for each of them.

use std::collections::HashMap;
use std::time::Duration;

use storagebox_core::Key;
use tokio::time::Instant;

/// The entities that have a message in progress.
pub(super) struct Busy {
    runs: HashMap<Key, Run>,
    /// The longest time for which one run makes later messages wait.
    patience: Duration,
}

struct Run {
    /// The time at which other messages stop waiting for this run, which may hang.
    until: Instant,
    is_alone: bool,
}

impl Busy {
    pub(super) fn new(patience: Duration) -> Self {
        Self { runs: HashMap::new(), patience }
    }

    pub(super) fn has(&self, entity: &Key) -> bool {
        self.runs.contains_key(entity)
    }

    pub(super) fn begin(&mut self, entity: Key, is_alone: bool) {
        let now = now();
        // If the clock cannot represent the sum, other messages wait for 136 years.
        let until = now.checked_add(self.patience).unwrap_or(now + Duration::from_secs(u32::MAX.into()));
        self.runs.insert(entity, Run { until, is_alone });
    }

    pub(super) fn end(&mut self, entity: &Key) {
        self.runs.remove(entity);
    }

    /// Returns the earliest time at which other messages stop waiting for a run, or `None` if they wait for no run.
    pub(super) fn until(&self) -> Option<Instant> {
        self.waited_for().map(|run| run.until).min()
    }

    /// Returns whether other messages wait for a message that runs alone.
    pub(super) fn is_alone(&self) -> bool {
        self.waited_for().any(|run| run.is_alone)
    }

    fn waited_for(&self) -> impl Iterator<Item = &Run> {
        let now = now();
        self.runs.values().filter(move |run| run.until > now)
    }
}

#[allow(clippy::disallowed_methods, reason = "for how long a run holds others up; no promise depends on it")]
fn now() -> Instant {
    Instant::now()
}
