//! The calls that wait, by key, and the turn that they wait for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_channel::oneshot::{Canceled, Receiver, Sender};

use super::{Combine, Combined, Combiner, Spawn};
use crate::error::Result;

/// How many batches wait at the most, in all and of one key.
const ROOM: usize = 256;
const ROOM_OF_A_KEY: usize = 16;
/// How many batches that outlasted the patience are under way at the most.
const MOST_OVERTAKEN: usize = 4;

pub(super) type Told<C> = Combined<Result<<C as Combine>::Answer>>;

pub(super) struct Waiting<C: Combine> {
    pub(super) call: C,
    pub(super) reply: Sender<Told<C>>,
    /// Starts a task where the caller is driven.
    pub(super) spawn: Arc<Spawn>,
}

/// A turn by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    number: u64,
    /// Of one call, in its caller's own future, which nobody may drive any more.
    is_alone: bool,
}

/// A turn that is to be begun, and who starts its task.
pub(super) struct Next {
    pub(super) ticket: Ticket,
    pub(super) spawn: Arc<Spawn>,
    /// Whether others are likely to come at once, so that it pays to let them.
    pub(super) expects_others: bool,
}

/// Calls about one key. There is a lane for as long as one of them waits or is under way.
struct Lane<C: Combine> {
    calls: BTreeMap<u64, Waiting<C>>,
    is_busy: bool,
}

pub(super) struct Queue<C: Combine> {
    lanes: HashMap<C::Key, Lane<C>>,
    /// The lanes whose first call may go, by its number. While there are any, there is a turn.
    ready: BTreeMap<u64, C::Key>,
    waiting: usize,
    most: usize,
    /// Calls in the last batch.
    last_batch: usize,
    /// The turn that all wait for.
    turn: Option<Ticket>,
    /// Batches that outlasted the patience and are still under way.
    overtaken: usize,
    is_watched: bool,
    /// Of calls and turns: none is given twice.
    last_number: u64,
}

impl<C: Combine> Queue<C> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            lanes: HashMap::new(),
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

    fn begin(&mut self, is_alone: bool) -> Ticket {
        let ticket = Ticket { number: self.number(), is_alone };
        self.turn = Some(ticket);
        ticket
    }

    /// A turn for one call, if nobody has it and nothing about the key is under way.
    pub(super) fn begin_alone(&mut self, key: &C::Key) -> Option<Ticket> {
        if self.turn.is_some() || self.lanes.contains_key(key) {
            return None;
        }
        self.lanes.insert(key.clone(), Lane { calls: BTreeMap::new(), is_busy: true });
        Some(self.begin(true))
    }

    /// The call's number, if there is room for it.
    pub(super) fn wait(&mut self, key: &C::Key, waiting: Waiting<C>) -> Option<u64> {
        let number = self.number();
        let is_full = self.waiting >= self.most * ROOM;
        let lane = self.lanes.entry(key.clone()).or_insert_with(|| Lane { calls: BTreeMap::new(), is_busy: false });
        if is_full || lane.calls.len() >= self.most * ROOM_OF_A_KEY {
            self.line_up(key);
            return None;
        }
        lane.calls.insert(number, waiting);
        self.waiting += 1;
        self.line_up(key);
        Some(number)
    }

    /// The call is not wanted any more.
    fn withdraw(&mut self, key: &C::Key, number: u64) {
        let withdrawn = self.lanes.get_mut(key).and_then(|lane| lane.calls.remove(&number));
        if withdrawn.is_some() {
            self.waiting -= 1;
            self.ready.remove(&number);
            self.line_up(key);
        }
    }

    /// Marks the lane's first call as ready if no call of the lane is under way. Removes an empty lane.
    fn line_up(&mut self, key: &C::Key) {
        let Some(lane) = self.lanes.get(key).filter(|lane| !lane.is_busy) else { return };
        match lane.calls.first_key_value() {
            Some((number, _)) => drop(self.ready.insert(*number, key.clone())),
            None => drop(self.lanes.remove(key)),
        }
    }

    /// The calls that wait longest, one for each key, and their keys, which are under way from now on.
    pub(super) fn batch(&mut self) -> (Vec<C::Key>, Vec<Waiting<C>>) {
        let (mut keys, mut batch) = (Vec::new(), Vec::new());
        while batch.len() < self.most
            && let Some((number, key)) = self.ready.pop_first()
        {
            if let Some(lane) = self.lanes.get_mut(&key) {
                batch.extend(lane.calls.remove(&number));
                lane.is_busy = true;
            }
            keys.push(key);
        }
        self.waiting -= batch.len();
        self.last_batch = batch.len();
        (keys, batch)
    }

    /// Nothing about the keys is under way any more.
    pub(super) fn release(&mut self, keys: Vec<C::Key>) {
        for key in keys {
            if let Some(lane) = self.lanes.get_mut(&key) {
                lane.is_busy = false;
            }
            self.line_up(&key);
        }
    }

    /// The next ticket of a turn that goes on, unless it was overtaken.
    pub(super) fn go_on(&mut self, ticket: Ticket) -> Option<Ticket> {
        (self.turn == Some(ticket)).then(|| self.begin(false))
    }

    /// Ends a turn. Returns the turn that follows it.
    pub(super) fn end(&mut self, ticket: Ticket, keys: Vec<C::Key>) -> Option<Next> {
        self.release(keys);
        match self.turn == Some(ticket) {
            true => self.turn = None,
            false => self.overtaken -= counted(ticket),
        }
        // Those who were just answered may have their next call ready.
        self.next(true)
    }

    /// Begins a turn for a new call and the other waiting calls, if nobody has the turn. If the last batch had several
    /// calls, others are likely to arrive with it.
    pub(super) fn begin_with_others(&mut self) -> Option<Next> {
        self.next(self.last_batch > 1)
    }

    fn next(&mut self, expects_others: bool) -> Option<Next> {
        match self.turn {
            Some(_) => None,
            None => self.begin_batch(expects_others),
        }
    }

    /// The turn that begins beside the one that was seen, if nothing has moved since.
    pub(super) fn overtake(&mut self, seen: Option<Ticket>) -> Option<Next> {
        let late = self.turn.filter(|turn| Some(*turn) == seen)?;
        let overtaken = self.overtaken + counted(late);
        if overtaken > MOST_OVERTAKEN {
            return None;
        }
        let next = self.begin_batch(true)?;
        self.overtaken = overtaken;
        Some(next)
    }

    /// A turn in the runtime of the caller that waits longest of those who may go.
    fn begin_batch(&mut self, expects_others: bool) -> Option<Next> {
        let (number, key) = self.ready.first_key_value()?;
        let spawn = Arc::clone(&self.lanes.get(key)?.calls.get(number)?.spawn);
        Some(Next { ticket: self.begin(false), spawn, expects_others })
    }

    /// Takes all waiting calls out of the queue; they are left to themselves.
    pub(super) fn give_up(&mut self) -> Vec<Waiting<C>> {
        self.ready.clear();
        self.waiting = 0;
        let calls = self.lanes.values_mut().flat_map(|lane| std::mem::take(&mut lane.calls).into_values());
        let left = calls.collect();
        self.lanes.retain(|_, lane| lane.is_busy);
        left
    }

    pub(super) fn turn(&self) -> Option<Ticket> {
        self.turn
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether nobody watches yet. From now on somebody does.
    pub(super) fn is_to_be_watched(&mut self) -> bool {
        !std::mem::replace(&mut self.is_watched, true)
    }

    pub(super) fn is_watched_no_more(&mut self) {
        self.is_watched = false;
    }
}

/// What a turn that is overtaken adds to those that may be. A call alone adds nothing: it began when nobody had the
/// turn, and perhaps its caller left it.
fn counted(ticket: Ticket) -> usize {
    usize::from(!ticket.is_alone)
}

/// A place in the queue, which is given up when it is dropped.
pub(super) struct Place<C: Combine> {
    combiner: Arc<Combiner<C>>,
    key: C::Key,
    number: u64,
    answer: Receiver<Told<C>>,
    is_told: bool,
}

impl<C: Combine> Place<C> {
    pub(super) fn new(combiner: Arc<Combiner<C>>, key: C::Key, number: u64, answer: Receiver<Told<C>>) -> Self {
        Self { combiner, key, number, answer, is_told: false }
    }

    pub(super) async fn told(mut self) -> Result<Told<C>, Canceled> {
        let told = (&mut self.answer).await;
        self.is_told = true;
        told
    }
}

impl<C: Combine> Drop for Place<C> {
    fn drop(&mut self) {
        if !self.is_told {
            self.combiner.lock().withdraw(&self.key, self.number);
        }
    }
}
