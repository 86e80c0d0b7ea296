//! The settings of a store.

use std::sync::Arc;

use storagebox_core::{Clock, Retention};

use crate::clock::{NeverBack, Time, TokioClock};

/// Builds a [`MemoryStore`](crate::MemoryStore).
#[derive(Clone, Debug, Default)]
pub struct MemoryBuilder {
    pub(crate) settings: Settings,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) remember: Retention,
}

impl Settings {
    pub(crate) fn now(&self) -> Time {
        Time::of(&*self.clock)
    }

    /// Whether an entry that ended at the time `ended` is forgotten at the time `now`.
    pub(crate) fn is_forgotten(&self, ended: Time, now: Time) -> bool {
        ended.after_retention(self.remember).is_some_and(|end| end <= now)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self { clock: Arc::new(TokioClock::new()), remember: Retention::DEFAULT }
    }
}

impl MemoryBuilder {
    /// Sets the clock that decides every expiry. Defaults to tokio's clock. If the clock is set back, the store's time
    /// stands still until the clock has caught up.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Arc::new(NeverBack::of(clock));
        self
    }

    /// Sets how long ended claims, gone tokens and ended operations are remembered. Defaults to 7 days.
    #[must_use]
    pub fn remember(mut self, retention: Retention) -> Self {
        self.settings.remember = retention;
        self
    }
}
