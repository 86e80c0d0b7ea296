//! Calls that come while another is under way go together, as one.

use std::collections::{HashSet, VecDeque};
use std::future::poll_fn;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::{fmt, mem};

use futures_channel::oneshot;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A call that can go together with others of its kind.
pub trait Combine: Send + 'static {
    /// What at most one call of a batch may be about; a second one waits for the next batch.
    type Key: Eq + Hash + Send;
    /// What the call is answered.
    type Answer: Send + 'static;

    /// What the call is about.
    fn key(&self) -> Self::Key;
}

/// What became of one call of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined<A> {
    /// Its answer.
    Answer(A),
    /// It surely took no effect here and is to be made alone, because of what it met or what a neighbour met.
    Alone,
    /// The batch was lost on the way: it may have taken effect, or may still.
    Lost,
}

/// Makes many calls in one step of the store and tells what became of each, in their order.
pub type Together<C> = dyn Fn(Vec<C>) -> BoxFuture<Vec<Combined<<C as Combine>::Answer>>> + Send + Sync;

/// Starts a task of its own, as the runtime does it.
pub type Spawn = dyn Fn(BoxFuture<()>) + Send + Sync;

/// Gathers calls while one is under way, for backends whose store is faster with many at once.
///
/// # Guarantees
///
/// - No call waits when nothing is under way: it is made at once, alone, in its caller's own future.
/// - A batch runs in a task of its own, so a caller that is dropped cancels none of its neighbours; its own call may
///   or may not take effect, as with every dropped future.
/// - Each call has its own answer. One that its batch could not answer is made alone, so that it cannot fail its
///   neighbours, and is told whether the batch was lost.
pub struct Combiner<C: Combine> {
    queue: Mutex<Queue<C>>,
    together: Box<Together<C>>,
    spawn: Box<Spawn>,
    most: usize,
}

struct Queue<C: Combine> {
    waiting: VecDeque<Waiting<C>>,
    under_way: bool,
}

struct Waiting<C: Combine> {
    call: C,
    reply: oneshot::Sender<Combined<C::Answer>>,
}

impl<C: Combine> Combiner<C> {
    /// A combiner of batches of at most `most` calls.
    pub fn new(most: usize, together: Box<Together<C>>, spawn: Box<Spawn>) -> Arc<Self> {
        let queue = Mutex::new(Queue { waiting: VecDeque::new(), under_way: false });
        Arc::new(Self { queue, together, spawn, most: most.max(1) })
    }

    /// Makes the call: at once by `alone` if nothing is under way, otherwise with those that wait. `alone` is told
    /// whether an attempt to make it with others was lost.
    ///
    /// # Guarantees
    ///
    /// Those above.
    ///
    /// # Cancel safety
    ///
    /// That of the call itself: it may have been made.
    ///
    /// # Errors
    ///
    /// None of its own.
    pub async fn call<F>(self: &Arc<Self>, call: C, alone: impl FnOnce(bool) -> F + Send) -> C::Answer
    where
        F: Future<Output = C::Answer> + Send,
    {
        let reply = match self.turn(call) {
            Ok(turn) => {
                let answer = alone(false).await;
                drop(turn);
                return answer;
            }
            Err(reply) => reply,
        };
        match reply.await {
            Ok(Combined::Answer(answer)) => answer,
            Ok(Combined::Alone) => alone(false).await,
            Ok(Combined::Lost) | Err(oneshot::Canceled) => alone(true).await,
        }
    }

    /// The turn, if nothing is under way; otherwise a place in the queue.
    fn turn(self: &Arc<Self>, call: C) -> Result<Turn<C>, oneshot::Receiver<Combined<C::Answer>>> {
        let mut queue = self.lock();
        if !mem::replace(&mut queue.under_way, true) {
            return Ok(Turn(Arc::clone(self)));
        }
        let (reply, answer) = oneshot::channel();
        queue.waiting.push_back(Waiting { call, reply });
        Err(answer)
    }

    async fn run(&self, batch: Vec<Waiting<C>>) {
        let (calls, replies): (Vec<_>, Vec<_>) = batch.into_iter().map(|one| (one.call, one.reply)).unzip();
        let mut answers = (self.together)(calls).await.into_iter();
        for reply in replies {
            // Whoever was dropped meanwhile wants no answer.
            let _unread = reply.send(answers.next().unwrap_or(Combined::Lost));
        }
    }

    /// Nothing here panics with the lock held.
    fn lock(&self) -> MutexGuard<'_, Queue<C>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Combine> Queue<C> {
    /// The calls that wait longest, one for each key.
    fn batch(&mut self, most: usize) -> Vec<Waiting<C>> {
        let mut keys = HashSet::new();
        let mut batch = Vec::new();
        let mut later = VecDeque::new();
        while batch.len() < most
            && let Some(next) = self.waiting.pop_front()
        {
            if keys.insert(next.call.key()) { batch.push(next) } else { later.push_back(next) }
        }
        later.append(&mut self.waiting);
        self.waiting = later;
        batch
    }
}

/// That something is under way. When it ends, also by being dropped, those who wait go next.
struct Turn<C: Combine>(Arc<Combiner<C>>);

impl<C: Combine> Drop for Turn<C> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.under_way = !queue.waiting.is_empty();
        if queue.under_way {
            drop(queue);
            // It is there before its task is, which may never begin.
            let worker = Worker { combiner: Arc::clone(&self.0), has_begun: false };
            (self.0.spawn)(Box::pin(worker.work()));
        }
    }
}

/// The task that makes batches. When it ends, those who came meanwhile go next; if it never begins, as in a runtime that
/// ends, those who wait are left to themselves.
struct Worker<C: Combine> {
    combiner: Arc<Combiner<C>>,
    has_begun: bool,
}

impl<C: Combine> Worker<C> {
    async fn work(mut self) {
        self.has_begun = true;
        loop {
            let batch = self.combiner.lock().batch(self.combiner.most);
            if batch.is_empty() {
                break;
            }
            self.combiner.run(batch).await;
            // Those who were just answered may have their next call ready.
            give_way().await;
        }
    }

    fn give_up(&self) {
        let left = {
            let mut queue = self.combiner.lock();
            queue.under_way = false;
            mem::take(&mut queue.waiting)
        };
        for one in left {
            // Whoever was dropped meanwhile wants no answer.
            let _unread = one.reply.send(Combined::Alone);
        }
    }
}

impl<C: Combine> Drop for Worker<C> {
    fn drop(&mut self) {
        match self.has_begun {
            true => drop(Turn(Arc::clone(&self.combiner))),
            false => self.give_up(),
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

impl<C: Combine> fmt::Debug for Combiner<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combiner").field("most", &self.most).finish_non_exhaustive()
    }
}
