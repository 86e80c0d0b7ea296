//! The steps of a worker with one copy of a message.

use crate::plan::{Checkpoint, Cleanup, Ids, Plan};
use crate::state::{Endpoint, Set, State, TokenId};
use crate::store::{Entry, Reply, Request, Write};

/// The id of the outgoing message's token, if all attempts use the same id.
const SHARED: TokenId = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Worker {
    pub(crate) endpoint: Endpoint,
    pub(crate) incoming: TokenId,
    pub(crate) at: At,
    found: Option<Entry>,
    pub(crate) found_absent: bool,
    pub(crate) stale: bool,
    token_is_there: bool,
    /// The token of the message that the worker sends.
    own: Option<TokenId>,
}

/// The next step of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum At {
    Load,
    Check,
    Commit,
    Register,
    Create,
    Choose,
    Dispatch,
    DiscardOthers,
    DiscardOwn,
    Consume,
    LoadAgain,
    Remove,
    Acknowledge,
}

impl Worker {
    pub(crate) fn new(plan: &Plan, endpoint: Endpoint, incoming: TokenId) -> Self {
        let at = if plan.checks_first { At::Check } else { At::Load };
        let (found, own) = (None, None);
        Self { endpoint, incoming, at, found, found_absent: false, stale: false, token_is_there: false, own }
    }

    /// Returns the next write. Returns `None` if the write needs a new id and no id is left.
    pub(crate) fn request(&mut self, plan: &Plan, state: &mut State, ids: u8) -> Option<Request> {
        let write = match self.at {
            At::Commit if self.endpoint.sends() && (plan.registers || plan.creates_at_commit) => {
                self.draw(plan, state, ids)?;
                Write::Commit { incoming: self.incoming, own: self.own }
            }
            At::Commit => Write::Commit { incoming: self.incoming, own: None },
            At::Register => Write::Register(self.draw(plan, state, ids)?),
            At::Create if plan.registers => Write::Create(self.own?),
            At::Create => Write::Create(self.draw(plan, state, ids)?),
            At::Choose => Write::Choose(self.own?),
            At::DiscardOthers => Write::Discard(self.others()),
            At::DiscardOwn => Write::Discard(Set::of(self.own?)),
            At::Consume => Write::Consume(self.incoming),
            At::Remove => Write::Remove,
            At::Load | At::Check | At::LoadAgain | At::Dispatch | At::Acknowledge => return None,
        };
        Some(Request { endpoint: self.endpoint, write, stale: self.stale, found_absent: self.found_absent })
    }

    fn draw(&mut self, plan: &Plan, state: &mut State, ids: u8) -> Option<TokenId> {
        self.own = match plan.ids {
            Ids::OfTheMessage => Some(SHARED),
            Ids::OfTheAttempt => state.draw(ids),
        };
        self.own
    }

    /// Returns the registered tokens of other attempts.
    fn others(&self) -> Set {
        let registered = self.found.unwrap_or_default().registered;
        self.own.map_or(registered, |own| registered.without(own))
    }

    /// Performs the read of this step. `token_is_there` is the answer if the step reads the token.
    pub(crate) fn read(&mut self, plan: &Plan, state: &State, token_is_there: bool) {
        let entity = state.entity(self.endpoint);
        match self.at {
            At::Check => {
                self.token_is_there = token_is_there;
                let loads_now = plan.checks_first && token_is_there;
                self.at = if loads_now { At::Load } else { self.decide(plan) };
            }
            At::Load => {
                (self.found, self.found_absent, self.stale) = (entity.entry, !entity.exists, false);
                self.at = match (plan.reads_at_once, plan.checks_first) {
                    (true, _) => {
                        self.token_is_there = token_is_there;
                        self.decide(plan)
                    }
                    (false, true) => self.decide(plan),
                    (false, false) => At::Check,
                };
            }
            At::LoadAgain => {
                (self.found, self.stale) = (entity.entry, false);
                self.at = match (self.found, plan.consumes_at_commit) {
                    (Some(entry), true) => self.resume(plan, entry),
                    (Some(_), false) => At::Remove,
                    (None, _) => At::Acknowledge,
                };
            }
            _ => {}
        }
    }

    fn decide(&mut self, plan: &Plan) -> At {
        match (self.found, self.token_is_there) {
            (Some(entry), true) => self.resume(plan, entry),
            (Some(entry), false) if plan.consumes_at_commit => self.resume(plan, entry),
            (None, true) => At::Commit,
            (_, false) => self.duplicate(plan),
        }
    }

    fn duplicate(&self, plan: &Plan) -> At {
        match plan.cleanup {
            Cleanup::None => At::Acknowledge,
            Cleanup::Snapshot | Cleanup::Reread if self.found.is_some() => At::Remove,
            Cleanup::Snapshot => At::Acknowledge,
            Cleanup::Reread => At::LoadAgain,
        }
    }

    /// Returns the next step for a message that has an entry.
    fn resume(&mut self, plan: &Plan, entry: Entry) -> At {
        match entry.chosen.filter(|_| plan.checkpoint != Checkpoint::None) {
            _ if !self.endpoint.sends() => Self::sent(plan),
            Some(token) => {
                self.own = Some(token);
                At::Dispatch
            }
            None if plan.registers => At::Register,
            None => At::Create,
        }
    }

    /// Returns the first step after all messages are sent.
    fn sent(plan: &Plan) -> At {
        if plan.consumes_at_commit || plan.removes_first { At::Remove } else { At::Consume }
    }

    /// Returns the worker after the reply, or `None` if the worker gives up.
    pub(crate) fn hear(mut self, plan: &Plan, state: &State, reply: Reply) -> Option<Self> {
        if matches!(self.at, At::Commit | At::Register | At::Choose) {
            // The store's answer contains the entry that it found or wrote.
            (self.found, self.stale) = (state.entity(self.endpoint).entry, false);
        }
        self.at = match (self.at, reply) {
            (_, Reply::Conflict | Reply::TokenGone) => return None,
            (At::Commit, _) => self.committed(plan),
            (_, Reply::Chosen(token)) => {
                self.own = Some(token);
                At::Dispatch
            }
            (At::Choose, Reply::NoEntry) => At::DiscardOwn,
            (_, Reply::NoEntry) | (At::DiscardOwn, _) => At::Acknowledge,
            (At::Register, _) => At::Create,
            (At::Create, _) if plan.checkpoint == Checkpoint::None => At::Dispatch,
            (At::Create, _) => At::Choose,
            (At::Choose, _) => At::Dispatch,
            (At::DiscardOthers, _) => Self::sent(plan),
            (At::Consume, _) if plan.removes_first => At::Acknowledge,
            (At::Consume, _) => At::Remove,
            (At::Remove, _) if plan.removes_first && !plan.consumes_at_commit => At::Consume,
            (_, _) => At::Acknowledge,
        };
        Some(self)
    }

    fn committed(&self, plan: &Plan) -> At {
        match self.endpoint.sends() {
            true if plan.creates_at_commit => At::Dispatch,
            true => At::Create,
            false if plan.consumes_at_commit => At::Acknowledge,
            false => Self::sent(plan),
        }
    }

    /// Moves the worker to the step after sending. Returns the token of the sent message.
    pub(crate) fn dispatch(&mut self, plan: &Plan) -> Option<TokenId> {
        self.at = match self.others().is_empty() || !plan.registers {
            true => Self::sent(plan),
            false => At::DiscardOthers,
        };
        self.own
    }
}
