//! The waiting calls by key, and the turn that they wait for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_channel::oneshot::{Canceled, Receiver, Sender};

use super::{Combine, Combined, Combiner, Spawn};
use crate::values::error::Result;

/// The maximum number of waiting calls, as a multiple of the batch size.
const ROOM: usize = 256;
/// The maximum number of waiting calls of one key, as a multiple of the batch size.
const ROOM_OF_A_KEY: usize = 16;
/// The maximum number of batches that are in progress and that a later turn has overtaken.
const MOST_OVERTAKEN: usize = 4;

pub(super) type Reply<C> = Combined<Result<<C as Combine>::Answer>>;

pub(super) struct Waiting<C: Combine> {
    pub(super) call: C,
    pub(super) reply: Sender<Reply<C>>,
    /// Starts a task in the caller's runtime.
    pub(super) spawn: Arc<Spawn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TurnId {
    number: u64,
    /// Whether the turn makes a single call, inside the caller's future.
    is_alone: bool,
}

/// A turn whose task has not been started.
pub(super) struct Next {
    pub(super) turn: TurnId,
    pub(super) spawn: Arc<Spawn>,
    /// Whether more calls are likely to arrive soon.
    pub(super) expects_others: bool,
}

/// The waiting calls of one key, and whether a call of the key is in progress. The queue of a key exists only while a
/// call of the key waits or is in progress.
struct KeyQueue<C: Combine> {
    calls: BTreeMap<u64, Waiting<C>>,
    is_busy: bool,
}

pub(super) struct Queue<C: Combine> {
    queues: HashMap<C::Key, KeyQueue<C>>,
    /// The keys whose first call can begin, by the number of that call. While a key is ready, a turn is in progress or
    /// about to begin.
    ready: BTreeMap<u64, C::Key>,
    waiting: usize,
    most: usize,
    last_batch: usize,
    /// The turn in progress that the waiting calls wait for.
    turn: Option<TurnId>,
    /// The number of overtaken batches that are still in progress.
    overtaken: usize,
    is_watched: bool,
    /// The last number that was given to a call or a turn.
    last_number: u64,
}

impl<C: Combine> Queue<C> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            queues: HashMap::new(),
            ready: BTreeMap::new(),
            waiting: 0,
            most,
            last_batch: 0,
            turn: None,
            overtaken: 0,
            is_watched: false,
            last_number: 0,
        }
    }

    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn begin(&mut self, is_alone: bool) -> TurnId {
        let ticket = TurnId { number: self.number(), is_alone };
        self.turn = Some(ticket);
        ticket
    }

    /// Begins a turn for a single call. Returns `None` if a turn or a call of the key is in progress.
    pub(super) fn begin_alone(&mut self, key: &C::Key) -> Option<TurnId> {
        if self.turn.is_some() || self.queues.contains_key(key) {
            return None;
        }
        self.queues.insert(key.clone(), KeyQueue { calls: BTreeMap::new(), is_busy: true });
        Some(self.begin(true))
    }

    /// Adds the call and returns its number. Returns `None` if the queue is full.
    pub(super) fn wait(&mut self, key: &C::Key, waiting: Waiting<C>) -> Option<u64> {
        let number = self.number();
        let is_full = self.waiting >= self.most * ROOM;
        let of_key =
            self.queues.entry(key.clone()).or_insert_with(|| KeyQueue { calls: BTreeMap::new(), is_busy: false });
        if is_full || of_key.calls.len() >= self.most * ROOM_OF_A_KEY {
            self.line_up(key);
            return None;
        }
        of_key.calls.insert(number, waiting);
        self.waiting += 1;
        self.line_up(key);
        Some(number)
    }

    fn withdraw(&mut self, key: &C::Key, number: u64) {
        let withdrawn = self.queues.get_mut(key).and_then(|of_key| of_key.calls.remove(&number));
        if withdrawn.is_some() {
            self.waiting -= 1;
            self.ready.remove(&number);
            self.line_up(key);
        }
    }

    /// Marks the first call of the key as ready if no call of the key is in progress. Removes the key's queue if it is
    /// empty.
    fn line_up(&mut self, key: &C::Key) {
        let Some(of_key) = self.queues.get(key).filter(|of_key| !of_key.is_busy) else { return };
        match of_key.calls.first_key_value() {
            Some((number, _)) => drop(self.ready.insert(*number, key.clone())),
            None => drop(self.queues.remove(key)),
        }
    }

    /// Takes at most `most` ready calls, one per key and the oldest first, and marks their keys as busy.
    pub(super) fn batch(&mut self) -> (Vec<C::Key>, Vec<Waiting<C>>) {
        let (mut keys, mut batch) = (Vec::new(), Vec::new());
        while batch.len() < self.most
            && let Some((number, key)) = self.ready.pop_first()
        {
            if let Some(of_key) = self.queues.get_mut(&key) {
                batch.extend(of_key.calls.remove(&number));
                of_key.is_busy = true;
            }
            keys.push(key);
        }
        self.waiting -= batch.len();
        self.last_batch = batch.len();
        (keys, batch)
    }

    pub(super) fn release(&mut self, keys: Vec<C::Key>) {
        for key in keys {
            if let Some(of_key) = self.queues.get_mut(&key) {
                of_key.is_busy = false;
            }
            self.line_up(&key);
        }
    }

    /// Begins the turn that follows the turn `ticket`. Returns `None` if `ticket` is no longer the turn in progress.
    pub(super) fn go_on(&mut self, ticket: TurnId) -> Option<TurnId> {
        (self.turn == Some(ticket)).then(|| self.begin(false))
    }

    /// Ends the turn `ticket`. Begins the next turn unless another turn is in progress.
    pub(super) fn end(&mut self, ticket: TurnId, keys: Vec<C::Key>) -> Option<Next> {
        self.release(keys);
        match self.turn == Some(ticket) {
            true => self.turn = None,
            false => self.overtaken -= counted(ticket),
        }
        // Callers that were just answered may have their next call ready.
        self.next(true)
    }

    /// Begins a turn for the waiting calls, unless a turn is in progress.
    pub(super) fn begin_with_others(&mut self) -> Option<Next> {
        // After a batch of several calls, more calls are likely to arrive.
        self.next(self.last_batch > 1)
    }

    fn next(&mut self, expects_others: bool) -> Option<Next> {
        match self.turn {
            Some(_) => None,
            None => self.begin_batch(expects_others),
        }
    }

    /// Begins another turn beside the turn `seen`. Returns `None` if the turn `seen` has ended, no call is ready, or
    /// too many batches are overtaken.
    pub(super) fn overtake(&mut self, seen: Option<TurnId>) -> Option<Next> {
        let late = self.turn.filter(|turn| Some(*turn) == seen)?;
        let overtaken = self.overtaken + counted(late);
        if overtaken > MOST_OVERTAKEN {
            return None;
        }
        let next = self.begin_batch(true)?;
        self.overtaken = overtaken;
        Some(next)
    }

    /// Begins a turn for the ready calls. Returns `None` if no call is ready.
    fn begin_batch(&mut self, expects_others: bool) -> Option<Next> {
        let (number, key) = self.ready.first_key_value()?;
        // The task of the turn starts in the runtime of the caller that has waited longest.
        let spawn = Arc::clone(&self.queues.get(key)?.calls.get(number)?.spawn);
        Some(Next { turn: self.begin(false), spawn, expects_others })
    }

    /// Removes and returns all waiting calls.
    pub(super) fn give_up(&mut self) -> Vec<Waiting<C>> {
        self.ready.clear();
        self.waiting = 0;
        let calls = self.queues.values_mut().flat_map(|of_key| std::mem::take(&mut of_key.calls).into_values());
        let left = calls.collect();
        self.queues.retain(|_, of_key| of_key.is_busy);
        left
    }

    pub(super) fn turn(&self) -> Option<TurnId> {
        self.turn
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Marks the queue as watched by a `Watch` task. Returns true if no task watched the queue before.
    pub(super) fn is_to_be_watched(&mut self) -> bool {
        !std::mem::replace(&mut self.is_watched, true)
    }

    pub(super) fn is_watched_no_more(&mut self) {
        self.is_watched = false;
    }
}

/// Returns how much a turn adds to `overtaken`: 1 for a batch, and 0 for a call that is made alone.
fn counted(ticket: TurnId) -> usize {
    // A call that is made alone does not count: it began when there was no turn, and its caller may have stopped
    // polling it.
    usize::from(!ticket.is_alone)
}

/// A waiting call in the queue. Dropping the ticket removes the call.
pub(super) struct QueueTicket<C: Combine> {
    combiner: Arc<Combiner<C>>,
    key: C::Key,
    number: u64,
    answer: Receiver<Reply<C>>,
    is_answered: bool,
}

impl<C: Combine> QueueTicket<C> {
    pub(super) fn new(combiner: Arc<Combiner<C>>, key: C::Key, number: u64, answer: Receiver<Reply<C>>) -> Self {
        Self { combiner, key, number, answer, is_answered: false }
    }

    pub(super) async fn reply(mut self) -> Result<Reply<C>, Canceled> {
        let reply = (&mut self.answer).await;
        self.is_answered = true;
        reply
    }
}

impl<C: Combine> Drop for QueueTicket<C> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.combiner.lock().withdraw(&self.key, self.number);
        }
    }
}
