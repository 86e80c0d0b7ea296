//! The turn of a batch, and the watch that ends the wait for a turn that takes too long.

use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Weak};
use std::task::Poll;

use super::queue::{Ticket, Waiting};
use super::{BoxFuture, Combine, Combined, Combiner};

/// A sign that something is under way. When it ends, also by being dropped, the waiting calls go next.
pub(super) struct Turn<C: Combine> {
    combiner: Arc<Combiner<C>>,
    ticket: Ticket,
    keys: Vec<C::Key>,
}

impl<C: Combine> Turn<C> {
    pub(super) fn new(combiner: &Arc<Combiner<C>>, ticket: Ticket, keys: Vec<C::Key>) -> Self {
        Self { combiner: Arc::clone(combiner), ticket, keys }
    }

    /// The next batch; none if nobody waits, or if another turn has begun because this one took too long.
    fn next(&mut self) -> Vec<Waiting<C>> {
        let mut queue = self.combiner.lock();
        queue.release(mem::take(&mut self.keys));
        let Some(ticket) = queue.go_on(self.ticket) else { return Vec::new() };
        let (keys, batch) = queue.batch();
        (self.ticket, self.keys) = (ticket, keys);
        batch
    }
}

impl<C: Combine> Drop for Turn<C> {
    fn drop(&mut self) {
        let next = self.combiner.lock().end(self.ticket, mem::take(&mut self.keys));
        if let Some(next) = next {
            self.combiner.begin(&next);
        }
    }
}

/// The task that makes batches. When it ends, those who came meanwhile go next; if it never begins, as in a runtime
/// that ends, those who wait are left to themselves.
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
            true => self.make_one().await,
            false => self.make_all().await,
        }
    }

    /// One batch, and then nothing more: the next waiter has a runtime that is driven, and this one perhaps has not.
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
            // Those who were just answered may have their next call ready.
            give_way().await;
        }
    }
}

impl<C: Combine> Drop for Worker<C> {
    fn drop(&mut self) {
        if self.has_begun {
            return;
        }
        let left = self.turn.combiner.lock().give_up();
        for one in left {
            // A caller that was dropped meanwhile wants no answer.
            let _unread = one.reply.send(Combined::Alone);
        }
    }
}

/// The task that lets the next turn begin beside one that stands still. It lasts for as long as anybody waits.
pub(super) struct Watch<C: Combine> {
    combiner: Weak<Combiner<C>>,
    is_over: bool,
}

impl<C: Combine> Watch<C> {
    pub(super) fn of(combiner: &Arc<Combiner<C>>) -> Self {
        Self { combiner: Arc::downgrade(combiner), is_over: false }
    }

    pub(super) async fn watch(mut self) {
        while let Some((seen, patience)) = self.seen() {
            patience.await;
            self.look(seen);
        }
    }

    /// The turn that is under way, and how long to wait for its end; nothing if nobody waits.
    fn seen(&mut self) -> Option<(Option<Ticket>, BoxFuture<()>)> {
        let combiner = self.combiner.upgrade()?;
        let patience = combiner.patience.as_ref()?;
        let mut queue = combiner.lock();
        if queue.is_empty() {
            queue.is_watched_no_more();
            self.is_over = true;
            return None;
        }
        let seen = queue.turn();
        drop(queue);
        Some((seen, patience()))
    }

    fn look(&self, seen: Option<Ticket>) {
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
