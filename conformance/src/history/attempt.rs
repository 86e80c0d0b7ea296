//! The attempts of a history, and how it is partitioned.

use std::collections::BTreeMap;

/// One call of a client, with its response if there was one.
#[derive(Clone, Debug)]
pub struct Attempt<Op, Reply> {
    pub(super) client: usize,
    pub(super) op: Op,
    /// The unique time of the invocation, which also identifies the attempt.
    pub(super) invoked: usize,
    pub(super) response: Option<Response<Reply>>,
}

#[derive(Clone, Debug)]
pub(super) struct Response<Reply> {
    pub(super) at: usize,
    pub(super) reply: Reply,
}

impl<Op, Reply> Attempt<Op, Reply> {
    /// Returns the client that made the call.
    pub fn client(&self) -> usize {
        self.client
    }

    /// Returns the operation that was called.
    pub fn op(&self) -> &Op {
        &self.op
    }

    /// Returns the reply, or `None` if the outcome is unknown.
    pub fn reply(&self) -> Option<&Reply> {
        self.response.as_ref().map(|response| &response.reply)
    }
}

/// The attempts of a run, in the order of their invocations.
#[derive(Clone, Debug)]
pub struct History<Op, Reply> {
    pub(super) attempts: Vec<Attempt<Op, Reply>>,
}

/// The invocation or the response of the attempt at the position `attempt` of the history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) at: usize,
    pub(super) attempt: usize,
    pub(super) kind: EventKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum EventKind {
    Invocation,
    Response,
}

impl<Op, Reply> History<Op, Reply> {
    /// Returns the attempts, in the order of their invocations.
    pub fn attempts(&self) -> &[Attempt<Op, Reply>] {
        &self.attempts
    }

    /// Returns a separate history for each key.
    ///
    /// Linearizability is local: a history is linearizable exactly if the history of every object in it is. Checking
    /// key by key therefore loses nothing, and avoids the product of their configurations.
    pub fn partition_by<K: Ord>(self, key: impl Fn(&Op) -> K) -> BTreeMap<K, Self> {
        let mut histories = BTreeMap::new();
        for attempt in self.attempts {
            let history = histories.entry(key(&attempt.op)).or_insert_with(Self::empty);
            history.attempts.push(attempt);
        }
        histories
    }

    /// Returns every invocation and response in the order of time.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut events = Vec::with_capacity(2 * self.attempts.len());
        for (position, attempt) in self.attempts.iter().enumerate() {
            let event = |at, kind| Event { at, attempt: position, kind };
            events.push(event(attempt.invoked, EventKind::Invocation));
            if let Some(response) = &attempt.response {
                events.push(event(response.at, EventKind::Response));
            }
        }
        events.sort_unstable_by_key(|event| event.at);
        events
    }

    pub(super) fn empty() -> Self {
        Self { attempts: Vec::new() }
    }
}
