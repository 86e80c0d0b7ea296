//! Calls that come while another is under way go together, as one.

mod queue;
mod turn;

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;

use crate::error::{Error, ErrorKind, Result};
use queue::{Place, Queue, Waiting};
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

/// Ends when a turn has lasted so long that the others shall not wait for it any more.
pub type Patience = dyn Fn() -> BoxFuture<()> + Send + Sync;

/// Gathers calls while one is under way, for backends whose store is faster with many at once.
///
/// # Guarantees
///
/// - No call waits when nothing is under way: it is made at once, alone, in its caller's own future.
/// - A batch runs in a task of its own, so a caller that is dropped cancels none of its neighbours. Its own call may
///   or may not take effect if it was under way, as with every dropped future; while it still waits it is not made.
/// - Each call has its own answer. One that its batch could not answer is made alone, so that it cannot fail its
///   neighbours, and is told whether the batch was lost.
/// - A turn that outlasts the patience holds up none but those of its own keys: the next one begins beside it, up to
///   four of them.
/// - At most 256 batches of calls wait, of one key 16 batches. One more is `Throttled` and is not made.
/// - What a call costs does not grow with the number of those that wait, but for a search in a sorted tree.
pub struct Combiner<C: Combine> {
    queue: Mutex<Queue<C>>,
    together: Box<Together<C>>,
    spawn: Box<Spawn>,
    patience: Option<Box<Patience>>,
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
        let most = most.max(1);
        Arc::new(Self { queue: Mutex::new(Queue::new(most)), together, spawn, patience, most })
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

    /// The turn, if nothing is under way; otherwise a place in the queue.
    fn enter(self: &Arc<Self>, call: C) -> Result<Entered<C>> {
        let (key, mut queue) = (call.key(), self.lock());
        if let Some(number) = queue.begin_alone(&key) {
            drop(queue);
            return Ok(Entered::AtOnce(Turn::new(self, number, vec![key])));
        }
        let (reply, answer) = oneshot::channel();
        let number = queue.wait(&key, Waiting { call, reply }).ok_or_else(full::<C>)?;
        let is_first_to_watch = self.patience.is_some() && queue.is_to_be_watched();
        drop(queue);
        if is_first_to_watch {
            (self.spawn)(Box::pin(Watch::of(self).watch()));
        }
        Ok(Entered::Waits(Place::new(Arc::clone(self), key, number, answer)))
    }

    /// Begins the turn of this number in a task of its own. It is there before its task is, which may never begin.
    fn begin(self: &Arc<Self>, number: u64) {
        let worker = Worker::new(Turn::new(self, number, vec![]));
        (self.spawn)(Box::pin(worker.work()));
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
