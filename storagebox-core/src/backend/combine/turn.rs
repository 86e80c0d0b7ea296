//! The turn of a batch, and the watch that ends the wait for a stalled turn.

use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Weak};
use std::task::Poll;

use super::queue::{TurnId, Waiting};
use super::{BoxFuture, Combine, Combined, Combiner};

/// The guard of a turn. Dropping the guard ends the turn and begins the next one.
pub(super) struct Turn<C: Combine> {
    combiner: Arc<Combiner<C>>,
    id: TurnId,
    keys: Vec<C::Key>,
}

impl<C: Combine> Turn<C> {
    pub(super) fn new(combiner: &Arc<Combiner<C>>, id: TurnId, keys: Vec<C::Key>) -> Self {
        Self { combiner: Arc::clone(combiner), id, keys }
    }

    /// Returns the next batch, which is empty if no call waits or if another turn has begun.
    fn next(&mut self) -> Vec<Waiting<C>> {
        let mut queue = self.combiner.lock();
        queue.release(mem::take(&mut self.keys));
        let Some(id) = queue.go_on(self.id) else { return Vec::new() };
        let (keys, batch) = queue.batch();
        (self.id, self.keys) = (id, keys);
        batch
    }
}

impl<C: Combine> Drop for Turn<C> {
    fn drop(&mut self) {
        let next = self.combiner.lock().end(self.id, mem::take(&mut self.keys));
        if let Some(next) = next {
            self.combiner.begin(&next);
        }
    }
}

/// The task that makes batches.
pub(super) struct Worker<C: Combine> {
    turn: Turn<C>,
    expects_others: bool,
    has_begun: bool,
}

impl<C: Combine> Worker<C> {
    pub(super) fn new(turn: Turn<C>, expects_others: bool) -> Self {
        Self { turn, expects_others, has_begun: false }
    }

    pub(super) async fn work(mut self) {
        self.has_begun = true;
        match self.turn.combiner.is_of_tasks {
            // The runtime of this task may stop, so the next batch gets a task in the runtime of its own caller.
            true => self.make_one().await,
            false => self.make_all().await,
        }
    }

    async fn make_one(mut self) {
        if self.expects_others {
            give_way().await;
        }
        let batch = self.turn.next();
        if !batch.is_empty() {
            self.turn.combiner.make(batch).await;
        }
    }

    async fn make_all(mut self) {
        loop {
            let batch = self.turn.next();
            if batch.is_empty() {
                break;
            }
            self.turn.combiner.make(batch).await;
            // Callers that were just answered may have their next call ready.
            give_way().await;
        }
    }
}

impl<C: Combine> Drop for Worker<C> {
    fn drop(&mut self) {
        if self.has_begun {
            return;
        }
        // The task was dropped before it ran, so each waiting caller makes its own call alone.
        let left = self.turn.combiner.lock().give_up();
        for one in left {
            // The send fails if the caller was dropped in the meantime.
            let _unread = one.reply.send(Combined::RunAlone);
        }
    }
}

/// The task that begins another turn when a turn takes too long. The task ends when no call waits.
pub(super) struct Watch<C: Combine> {
    combiner: Weak<Combiner<C>>,
    is_over: bool,
}

impl<C: Combine> Watch<C> {
    pub(super) fn of(combiner: &Arc<Combiner<C>>) -> Self {
        Self { combiner: Arc::downgrade(combiner), is_over: false }
    }

    pub(super) async fn watch(mut self) {
        while let Some((seen, stall)) = self.seen() {
            stall.await;
            self.overtake(seen);
        }
    }

    /// Returns the turn in progress and a future that ends after the stall timeout. Returns `None` if no call waits.
    fn seen(&mut self) -> Option<(Option<TurnId>, BoxFuture<()>)> {
        let combiner = self.combiner.upgrade()?;
        let stall_timeout = combiner.stall_timeout.as_ref()?;
        let mut queue = combiner.lock();
        if queue.is_empty() {
            queue.is_watched_no_more();
            self.is_over = true;
            return None;
        }
        let seen = queue.turn();
        drop(queue);
        Some((seen, stall_timeout()))
    }

    fn overtake(&self, seen: Option<TurnId>) {
        let Some(combiner) = self.combiner.upgrade() else { return };
        let next = combiner.lock().overtake(seen);
        if let Some(next) = next {
            combiner.begin(&next);
        }
    }
}

impl<C: Combine> Drop for Watch<C> {
    fn drop(&mut self) {
        if let Some(combiner) = self.combiner.upgrade().filter(|_| !self.is_over) {
            combiner.lock().is_watched_no_more();
        }
    }
}

/// Lets the other tasks of this runtime run once.
async fn give_way() {
    let mut gave_way = false;
    poll_fn(|context| {
        if mem::replace(&mut gave_way, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
