//! Calls that come while another is under way go together, as one.

mod queue;
mod turn;

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

use crate::error::{Error, ErrorKind, Result};
use queue::{Next, Place, Queue, Waiting};
use turn::{Turn, Watch, Worker};

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A call that can go together with others of its kind.
pub trait Combine: Send + 'static {
    /// What at most one call under way may be about; a second one waits for its end.
    type Key: Clone + Eq + Hash + Send;
    /// What the call is answered.
    type Answer: Send + 'static;

    /// The backend, for the error of a call that finds no room.
    const BACKEND: &'static str;
    /// The operation, for the same.
    const OPERATION: &'static str;

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
pub type Together<C> =
    dyn Fn(Vec<C>) -> BoxFuture<Vec<Combined<Result<<C as Combine>::Answer>>>> + Send + Sync;

/// Starts a task of its own, as the runtime does it.
pub type Spawn = dyn Fn(BoxFuture<()>) + Send + Sync;

/// Tells how to start tasks in the runtime that drives the caller, now or later and from wherever.
pub type Spawner = dyn Fn() -> Arc<Spawn> + Send + Sync;

/// Ends when a turn has lasted so long that the others shall not wait for it any more.
pub type Patience = dyn Fn() -> BoxFuture<()> + Send + Sync;

/// Gathers calls while one is under way, for backends whose store is faster with many at once.
///
/// # Guarantees
///
/// - No call waits when nothing is under way: it is made at once, alone, in its caller's own future; by a combiner
///   [of tasks](Self::of_tasks), as a batch of one.
/// - A batch runs in a task of its own, so a caller that is dropped cancels none of its neighbours. Its own call may
///   or may not take effect if it was under way, as with every dropped future; while it still waits it is not made.
/// - Each call has its own answer. One that its batch could not answer is made alone, so that it cannot fail its
///   neighbours, and is told whether the batch was lost.
/// - A turn that outlasts the patience holds up none but those of its own keys: the next one begins beside it. At most
///   four batches are outlasted so at a time. Calls that are made alone are not counted: each begins only when nothing
///   else has the turn, so many of them are late only while all else goes on.
/// - A call that is polled and then left, neither driven nor dropped, has a turn that outlasts the patience if it is made
///   alone. By a combiner of tasks it holds up nobody.
/// - At most 256 batches of calls wait, of one key 16 batches. One more is `Throttled` and is not made.
/// - What a call costs does not grow with the number of those that wait, but for a search in a sorted tree.
pub struct Combiner<C: Combine> {
    queue: Mutex<Queue<C>>,
    together: Box<Together<C>>,
    spawner: Box<Spawner>,
    patience: Option<Box<Patience>>,
    is_of_tasks: bool,
    most: usize,
}

impl<C: Combine> Combiner<C> {
    /// A combiner of batches of at most `most` calls. Without patience a turn lasts as long as it lasts, which is right
    /// for a store that can do one thing at a time.
    pub fn new(
        most: usize,
        together: Box<Together<C>>,
        spawn: Box<Spawn>,
        patience: Option<Box<Patience>>,
    ) -> Arc<Self> {
        let (most, spawn) = (most.max(1), Arc::<Spawn>::from(spawn));
        let spawner = Box::new(move || Arc::clone(&spawn));
        let queue = Mutex::new(Queue::new(most));
        Arc::new(Self { queue, together, spawner, patience, is_of_tasks: false, most })
    }

    /// A combiner by which every call is made by a task, together with those that come before the task begins. Each batch
    /// has a task of its own, in the runtime of its first caller. So a call that is polled and then left holds up nobody,
    /// nor does a runtime that is driven for its own calls only. A batch rests with its runtime where nobody drives that any
    /// more, also before it has begun, and there is no patience: it is for stores that have one writer, for whom all would
    /// wait.
    pub fn of_tasks(most: usize, together: Box<Together<C>>, spawner: Box<Spawner>) -> Arc<Self> {
        let most = most.max(1);
        let queue = Mutex::new(Queue::new(most));
        Arc::new(Self { queue, together, spawner, patience: None, is_of_tasks: true, most })
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
    /// That of the call itself, which may have been made. One that still waits is not made.
    ///
    /// # Errors
    ///
    /// `Throttled` if too many wait already. All others are the call's own.
    pub async fn call<F>(self: &Arc<Self>, call: C, alone: impl FnOnce(bool) -> F + Send) -> Result<C::Answer>
    where
        F: Future<Output = Result<C::Answer>> + Send,
    {
        let place = match self.enter(call)? {
            Entered::AtOnce(turn) => {
                let answer = alone(false).await;
                drop(turn);
                return answer;
            }
            Entered::Waits(place) => place,
        };
        match place.told().await {
            Ok(Combined::Answer(answer)) => answer,
            Ok(Combined::Alone) => alone(false).await,
            Ok(Combined::Lost) | Err(oneshot::Canceled) => alone(true).await,
        }
    }

    /// The turn, if nothing is under way and the caller may have it; otherwise a place in the queue.
    fn enter(self: &Arc<Self>, call: C) -> Result<Entered<C>> {
        let (key, spawn) = (call.key(), (self.spawner)());
        let mut queue = self.lock();
        if !self.is_of_tasks
            && let Some(ticket) = queue.begin_alone(&key)
        {
            drop(queue);
            return Ok(Entered::AtOnce(Turn::new(self, ticket, vec![key])));
        }
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { call, reply, spawn: Arc::clone(&spawn) };
        let number = queue.wait(&key, waiting).ok_or_else(full::<C>)?;
        let next = queue.begin_with_others();
        let is_first_to_watch = self.patience.is_some() && queue.is_to_be_watched();
        drop(queue);
        let place = Place::new(Arc::clone(self), key, number, answer);
        if is_first_to_watch {
            spawn(Box::pin(Watch::of(self).watch()));
        }
        if let Some(next) = next {
            self.begin(&next);
        }
        Ok(Entered::Waits(place))
    }

    /// Begins the turn in a task of its own. It is there before its task is, which may never begin.
    fn begin(self: &Arc<Self>, next: &Next) {
        let worker = Worker::new(Turn::new(self, next.ticket, vec![]), next.expects_others);
        (next.spawn)(Box::pin(worker.work()));
    }

    async fn make(&self, batch: Vec<Waiting<C>>) {
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

enum Entered<C: Combine> {
    AtOnce(Turn<C>),
    Waits(Place<C>),
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
