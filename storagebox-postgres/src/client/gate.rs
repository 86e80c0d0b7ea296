//! The limit on the connections in use: `max_connections`, or as many as the server lets the store have.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::now;

/// How long a lowered limit stays before it is doubled.
const UNTIL_MORE: Duration = Duration::from_secs(1);

/// Limits the number of calls in progress. Waiting calls enter in the order in which they arrive.
#[derive(Debug)]
pub(super) struct Gate {
    room: Semaphore,
    state: Mutex<State>,
    most: usize,
}

#[derive(Debug)]
struct State {
    size: usize,
    changed: Instant,
}

impl Gate {
    pub(super) fn new(most: usize) -> Self {
        Self { room: Semaphore::new(most), state: Mutex::new(State { size: most, changed: now() }), most }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Waits for a permit. Returns `None` if the store is closed.
    pub(super) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        self.widen();
        self.room.acquire().await.ok()
    }

    /// Doubles the limit if the limit was not changed for `UNTIL_MORE`, because the server may have more connections by
    /// then.
    fn widen(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.size < self.most && now().saturating_duration_since(state.changed) > UNTIL_MORE {
            let more = state.size.min(self.most - state.size);
            *state = State { size: state.size + more, changed: now() };
            self.room.add_permits(more);
        }
    }

    /// Lowers the limit to the number of calls that have a connection. Returns whether the refused call can wait for
    /// the permit of another call.
    pub(super) fn narrow(&self, refused: SemaphorePermit<'_>) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.changed = now();
        state.size -= self.room.forget_permits(self.most);
        let others = state.size > 1;
        if others {
            state.size -= 1;
            refused.forget();
        }
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn refused_call_waits_for_the_permit_of_a_served_call() {
        let gate = Gate::new(16);
        let served = gate.enter().await.unwrap();
        let refused = gate.enter().await.unwrap();
        assert!(gate.narrow(refused));
        assert!(gate.room.try_acquire().is_err());
        drop(served);
        assert!(gate.enter().await.is_some());
    }

    #[tokio::test]
    async fn gate_narrowed_by_its_only_call_keeps_one_permit() {
        let gate = Gate::new(16);
        let alone = gate.enter().await.unwrap();
        assert!(!gate.narrow(alone));
        let one = gate.enter().await.unwrap();
        assert!(gate.room.try_acquire().is_err());
        drop(one);
        gate.state.lock().unwrap().changed -= 2 * UNTIL_MORE;
        let (_one, _other) = (gate.enter().await.unwrap(), gate.enter().await.unwrap());
    }
}
