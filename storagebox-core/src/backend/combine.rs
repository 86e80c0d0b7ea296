//! Combines calls that arrive while another call is in progress into one batch.

mod queue;
mod turn;

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

use crate::values::error::{Error, ErrorKind, Result};
use queue::{Next, Queue, QueueTicket, Waiting};
use turn::{Turn, Watch, Worker};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A call that can be combined with others of its kind.
pub trait Combine: Send + 'static {
    /// The subject of a call. A batch has at most one call of a key, and while it is in progress the other calls of the
    /// key wait. A call that its batch could not answer is made alone and may run beside others of the key.
    type Key: Clone + Eq + Hash + Send;
    /// The answer to the call.
    type Answer: Send + 'static;

    /// The name of the backend, for the error that a call gets if the queue is full.
    const BACKEND: &'static str;
    /// The name of the operation, for the error that a call gets if the queue is full.
    const OPERATION: &'static str;

    /// Returns the subject of the call.
    fn key(&self) -> Self::Key;
}

/// The result of one call of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined<A> {
    /// The call was answered.
    Answer(A),
    /// The batch could not answer the call, which had no effect. The combiner makes the call alone.
    RunAlone,
    /// The answer to the batch was lost. The call may have taken effect, or may still take effect.
    Lost,
}

/// Makes many calls in one step of the store and returns the result of each, in their order.
pub type RunBatch<C> = dyn Fn(Vec<C>) -> BoxFuture<Vec<Combined<Result<<C as Combine>::Answer>>>> + Send + Sync;

/// Starts a task in the runtime.
pub type Spawn = dyn Fn(BoxFuture<()>) + Send + Sync;

/// Returns a function that starts tasks in the runtime that drives the caller, now or later and from any thread.
pub type Spawner = dyn Fn() -> Arc<Spawn> + Send + Sync;

/// Completes when a turn has stalled: other calls no longer wait for it.
pub type StallTimeout = dyn Fn() -> BoxFuture<()> + Send + Sync;

/// Collects calls while one is in progress, for backends whose store is faster with many calls at once.
///
/// # Guarantees
///
/// - No call waits when nothing is in progress: it is made at once, alone, in its caller's own future. A combiner [of
///   tasks](Self::of_tasks) makes it as a batch of one.
/// - A batch runs in a separate task, so a dropped caller does not cancel the other calls of the batch. The dropped
///   call may or may not take effect if it was in progress, as with every dropped future; if it was still waiting, it
///   is not made.
/// - Each call has its own answer. A call that its batch could not answer is made alone, so that it cannot make the
///   others fail. The call then learns whether the batch was lost.
/// - A turn that outlasts the stall timeout blocks only calls with its own keys: the next turn begins while it is still
///   in progress. At most four batches may outlast it at a time. Calls that are made alone are not counted: each begins
///   only when nothing else has the turn, so many of them are late only while all other calls proceed.
/// - If a caller polls a call and then neither polls nor drops it, the turn of the call stalls if the call is made
///   alone. In a combiner of tasks the call blocks no other call.
/// - At most 256 batches of calls wait; for one key, 16 batches. A call beyond that is `Throttled` and is not made.
/// - The cost of a call does not grow with the number of waiting calls, except for a search in a sorted tree.
pub struct Combiner<C: Combine> {
    queue: Mutex<Queue<C>>,
    run_batch: Box<RunBatch<C>>,
    spawner: Box<Spawner>,
    stall_timeout: Option<Box<StallTimeout>>,
    is_of_tasks: bool,
    most: usize,
}

impl<C: Combine> Combiner<C> {
    /// Creates a combiner for batches of at most `most` calls. Without a stall timeout a turn has no time limit, which
    /// is right for a store that does one thing at a time.
    pub fn new(
        most: usize,
        run_batch: Box<RunBatch<C>>,
        spawn: Box<Spawn>,
        stall_timeout: Option<Box<StallTimeout>>,
    ) -> Arc<Self> {
        let (most, spawn) = (most.max(1), Arc::<Spawn>::from(spawn));
        let spawner = Box::new(move || Arc::clone(&spawn));
        let queue = Mutex::new(Queue::new(most));
        Arc::new(Self { queue, run_batch, spawner, stall_timeout, is_of_tasks: false, most })
    }

    /// Creates a combiner in which a task makes every call, together with the calls that arrive before the task begins.
    /// Each batch has a separate task, in the runtime of its first caller. So a call that is polled and then abandoned
    /// blocks no other call, and neither does a runtime that is driven only for its own calls. If that runtime is no
    /// longer driven, the batch stalls with it, even before it has begun. There is no stall timeout: this combiner is
    /// for stores with a single writer, for which all calls would wait.
    pub fn of_tasks(most: usize, run_batch: Box<RunBatch<C>>, spawner: Box<Spawner>) -> Arc<Self> {
        let most = most.max(1);
        let queue = Mutex::new(Queue::new(most));
        Arc::new(Self { queue, run_batch, spawner, stall_timeout: None, is_of_tasks: true, most })
    }

    /// Makes the call: at once with `alone` if nothing is in progress, otherwise together with the waiting calls. The
    /// argument of `alone` says whether an attempt to make the call in a batch was lost.
    ///
    /// # Guarantees
    ///
    /// The guarantees of [`Combiner`].
    ///
    /// # Cancel safety
    ///
    /// The same as for the call itself, which may have been made. A call that still waits is not made.
    ///
    /// # Errors
    ///
    /// `Throttled` if too many calls wait already. All other errors are those of the call.
    pub async fn call<F>(self: &Arc<Self>, call: C, alone: impl FnOnce(bool) -> F + Send) -> Result<C::Answer>
    where
        F: Future<Output = Result<C::Answer>> + Send,
    {
        let ticket = match self.enter(call)? {
            Entered::AtOnce(turn) => {
                let answer = alone(false).await;
                drop(turn);
                return answer;
            }
            Entered::Waits(ticket) => ticket,
        };
        match ticket.reply().await {
            Ok(Combined::Answer(answer)) => answer,
            Ok(Combined::RunAlone) => alone(false).await,
            Ok(Combined::Lost) | Err(oneshot::Canceled) => alone(true).await,
        }
    }

    /// Begins a turn for the call alone if nothing is in progress. Otherwise adds the call to the queue.
    fn enter(self: &Arc<Self>, call: C) -> Result<Entered<C>> {
        let (key, spawn) = (call.key(), (self.spawner)());
        let mut queue = self.lock();
        if !self.is_of_tasks
            && let Some(id) = queue.begin_alone(&key)
        {
            drop(queue);
            return Ok(Entered::AtOnce(Turn::new(self, id, vec![key])));
        }
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { call, reply, spawn: Arc::clone(&spawn) };
        let number = queue.wait(&key, waiting).ok_or_else(full::<C>)?;
        let next = queue.begin_with_others();
        let is_first_to_watch = self.stall_timeout.is_some() && queue.is_to_be_watched();
        drop(queue);
        let ticket = QueueTicket::new(Arc::clone(self), key, number, answer);
        if is_first_to_watch {
            spawn(Box::pin(Watch::of(self).watch()));
        }
        if let Some(next) = next {
            self.begin(&next);
        }
        Ok(Entered::Waits(ticket))
    }

    fn begin(self: &Arc<Self>, next: &Next) {
        let worker = Worker::new(Turn::new(self, next.turn, vec![]), next.expects_others);
        (next.spawn)(Box::pin(worker.work()));
    }

    async fn make(&self, batch: Vec<Waiting<C>>) {
        let (calls, replies): (Vec<_>, Vec<_>) = batch.into_iter().map(|one| (one.call, one.reply)).unzip();
        let mut answers = (self.run_batch)(calls).await.into_iter();
        for reply in replies {
            // The send fails if the caller was dropped in the meantime.
            let _unread = reply.send(answers.next().unwrap_or(Combined::Lost));
        }
    }

    // Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Queue<C>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Entered<C: Combine> {
    AtOnce(Turn<C>),
    Waits(QueueTicket<C>),
}

fn full<C: Combine>() -> Error {
    let why = "too many calls of this process wait for their turn";
    Error::new(ErrorKind::Throttled, why).during(C::OPERATION).on(C::BACKEND)
}

impl<C: Combine> fmt::Debug for Combiner<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Combiner").field("most", &self.most).finish_non_exhaustive()
    }
}
