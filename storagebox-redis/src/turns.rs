//! Turns, which callers of one process give each other where one's work spares the others theirs.
//!
//! Who has a turn works inside its caller's future, and a caller may leave that unfinished for as long as it likes, as
//! a `select!` does with a call that it only borrows. So a turn saves requests and is never a condition: nobody waits
//! longer than [`PATIENCE`] for one who does not go on.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};
use tokio::time::timeout;

/// How long a turn that does not end is waited for.
const PATIENCE: Duration = Duration::from_millis(250);

/// One turn at a time, for those who go on.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<Arc<Line>>);

/// Those who wait for one another.
#[derive(Debug, Default)]
struct Line {
    queue: Arc<Queue<()>>,
    /// How many turns began.
    begun: AtomicU64,
}

/// Lasts until it is dropped, also with the call that has it; or until nobody waits for it any more.
#[derive(Debug)]
pub(crate) struct Turn {
    _turn: OwnedMutexGuard<()>,
}

impl Turns {
    /// The next turn. Where none ended for a while, all who wait go to a new line, and later ones with them.
    pub(crate) async fn next(&self) -> Turn {
        loop {
            let line = Arc::clone(&self.line());
            if let Some(turn) = line.next().await {
                return turn;
            }
            self.leave(&line);
        }
    }

    fn leave(&self, left: &Arc<Line>) {
        let mut line = self.line();
        if Arc::ptr_eq(&line, left) {
            *line = Arc::default();
        }
    }

    fn line(&self) -> MutexGuard<'_, Arc<Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    fn of(turn: OwnedMutexGuard<()>) -> Self {
        Self { _turn: turn }
    }
}

impl Line {
    /// Nothing if no turn began for as long as the patience lasts.
    async fn next(&self) -> Option<Turn> {
        let mut turn = pin!(Arc::clone(&self.queue).lock_owned());
        loop {
            let before = self.begun.load(Ordering::Relaxed);
            if let Ok(turn) = timeout(PATIENCE, &mut turn).await {
                self.begun.fetch_add(1, Ordering::Relaxed);
                return Some(Turn::of(turn));
            }
            if self.begun.load(Ordering::Relaxed) == before {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::pin::Pin;

    use super::*;

    /// Polls it once. Whether it is not through then.
    async fn is_left(next: Pin<&mut impl Future<Output = Turn>>) -> bool {
        tokio::select! {
            biased;
            _ = next => false,
            () = ready(()) => true,
        }
    }

    #[tokio::test]
    async fn one_has_a_turn_at_a_time() {
        let turns = Turns::default();
        let first = turns.next().await;
        assert!(is_left(pin!(turns.next())).await);
        drop(first);
        assert!(!is_left(pin!(turns.next())).await);
    }

    #[tokio::test]
    async fn a_turn_that_is_left_is_waited_for_once() {
        let turns = Turns::default();
        let _left = turns.next().await;
        let second = turns.next().await;
        assert!(is_left(pin!(turns.next())).await, "two turns at once");
        drop(second);
        assert!(!is_left(pin!(turns.next())).await, "the first one was waited for again");
    }

    /// It was given the turn, and does not take it.
    #[tokio::test]
    async fn one_who_waits_and_is_left_holds_up_nobody() {
        let turns = Turns::default();
        let first = turns.next().await;
        let mut left = pin!(turns.next());
        assert!(is_left(left.as_mut()).await);
        drop(first);
        turns.next().await;
    }
}
