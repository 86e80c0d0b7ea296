//! Lets one message at a time run alone, in all loops of a runtime, because these loops may end together.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::{Handle, Id};
use tokio::sync::{Mutex as Queue, MutexGuard};
use tokio::time::timeout;

static TURNS: LazyLock<Mutex<HashMap<Id, Weak<Queue<()>>>>> = LazyLock::new(Mutex::default);

/// The lock for running a message alone. Each runtime has its own lock, because runtimes may have different clocks.
#[derive(Clone)]
pub(super) struct Turn(Arc<Queue<()>>);

impl Turn {
    pub(super) fn here() -> Self {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = turns.entry(Handle::current().id()).or_default();
        let known = turn.upgrade().unwrap_or_default();
        *turn = Arc::downgrade(&known);
        Self(known)
    }

    /// Waits until no other message runs alone. Returns `None` after the time `patience`.
    pub(super) async fn take(&self, patience: Duration) -> Option<MutexGuard<'_, ()>> {
        // The other run may hang.
        timeout(patience, self.0.lock()).await.ok()
    }
}
