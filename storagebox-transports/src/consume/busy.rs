//! The messages that are being processed, and how long one of them keeps others from beginning.

use std::collections::HashMap;
use std::time::Duration;

use storagebox_core::Key;
use tokio::time::Instant;

/// The entities whose message is being processed.
pub(super) struct Busy {
    runs: HashMap<Key, Run>,
    /// The longest time to wait for a run.
    patience: Duration,
}

struct Run {
    /// When others stop waiting for this run: it may hang.
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
        // A moment that the clock cannot represent is replaced by one beyond the life of any worker.
        let until = now.checked_add(self.patience).unwrap_or(now + Duration::from_secs(u32::MAX.into()));
        self.runs.insert(entity, Run { until, is_alone });
    }

    pub(super) fn end(&mut self, entity: &Key) {
        self.runs.remove(entity);
    }

    /// Returns the earliest moment at which others stop waiting for a run, or `None` if they wait for none.
    pub(super) fn until(&self) -> Option<Instant> {
        self.waited_for().map(|run| run.until).min()
    }

    /// Returns whether others wait for a message that runs alone.
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
