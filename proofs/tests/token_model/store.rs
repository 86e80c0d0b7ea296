//! The stores: an entity with its outbox at each endpoint, and the tokens. Each request is one step.

use crate::plan::{Checkpoint, Plan};
use crate::state::{Endpoint, Set, State, TokenId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Token {
    Unknown,
    Live,
    Gone,
}

/// An entity, reduced to the facts that concern its one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Entity {
    pub(crate) exists: bool,
    pub(crate) entry: Option<Entry>,
}

/// The entry of a message in the outbox of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Entry {
    pub(crate) registered: Set,
    pub(crate) chosen: Option<TokenId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Request {
    pub(crate) endpoint: Endpoint,
    pub(crate) write: Write,
    /// Whether the entity was written after the sender loaded the entity.
    pub(crate) stale: bool,
    /// Whether the sender found the entity absent.
    pub(crate) found_absent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Write {
    /// Writes the handler's change and the entry. `own` is the token of the message that the handler sends.
    Commit {
        incoming: TokenId,
        own: Option<TokenId>,
    },
    Register(TokenId),
    Create(TokenId),
    Choose(TokenId),
    Discard(Set),
    Consume(TokenId),
    Remove,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Done,
    /// The entity has changed since the worker loaded it.
    Conflict,
    TokenGone,
    /// Another attempt's token was chosen.
    Chosen(TokenId),
    NoEntry,
}

impl State {
    pub(crate) fn perform(&mut self, plan: &Plan, request: Request) -> Reply {
        let Request { endpoint, write, stale, .. } = request;
        match write {
            Write::Commit { .. } if plan.compares && stale => Reply::Conflict,
            Write::Commit { incoming, own } => self.commit(plan, endpoint, incoming, own),
            Write::Register(token) => self.change_attempts(endpoint, |entry| {
                entry.registered = entry.registered.with(token);
            }),
            Write::Create(token) => self.create(plan, token),
            Write::Choose(_) | Write::Remove if plan.checkpoint == Checkpoint::Whole && stale => Reply::Conflict,
            Write::Choose(token) => self.choose(plan, endpoint, token),
            Write::Discard(tokens) => {
                tokens.iter().for_each(|token| self.end(plan, token));
                Reply::Done
            }
            Write::Consume(token) => {
                self.end(plan, token);
                Reply::Done
            }
            Write::Remove => self.remove(plan, endpoint),
        }
    }

    fn commit(&mut self, plan: &Plan, endpoint: Endpoint, incoming: TokenId, own: Option<TokenId>) -> Reply {
        if plan.consumes_at_commit {
            if self.token(incoming) != Token::Live {
                return Reply::TokenGone;
            }
            self.end(plan, incoming);
        }
        let changes = &mut self.changes[endpoint.slot()];
        *changes = (*changes + 1).min(2);
        let registered = own.filter(|_| plan.registers).map(Set::of).unwrap_or_default();
        let chosen = own.filter(|_| plan.creates_at_commit);
        // If nothing is sent and the token is consumed, nothing is left to do.
        let is_needed = endpoint.sends() || !plan.consumes_at_commit;
        let entry = is_needed.then_some(Entry { registered, chosen });
        self.entities[endpoint.slot()] = Entity { exists: true, entry };
        self.outdate(endpoint);
        if let Some(token) = chosen {
            self.create(plan, token);
        }
        if entry.is_none() {
            self.delete(plan, endpoint);
        }
        Reply::Done
    }

    /// Changes the entry, if no token is chosen yet.
    fn change_attempts(&mut self, endpoint: Endpoint, change: impl FnOnce(&mut Entry)) -> Reply {
        match &mut self.entities[endpoint.slot()].entry {
            None => Reply::NoEntry,
            Some(Entry { chosen: Some(token), .. }) => Reply::Chosen(*token),
            Some(entry) => {
                change(entry);
                Reply::Done
            }
        }
    }

    fn create(&mut self, plan: &Plan, token: TokenId) -> Reply {
        let gone = self.token(token) == Token::Gone;
        if !(gone && plan.tombstones) {
            self.resurrected |= gone;
            self.tokens[usize::from(token)] = Token::Live;
        }
        Reply::Done
    }

    fn choose(&mut self, plan: &Plan, endpoint: Endpoint, token: TokenId) -> Reply {
        let choose = |entry: &mut Entry| entry.chosen = Some(token);
        match plan.checkpoint {
            Checkpoint::None | Checkpoint::Field => self.change_attempts(endpoint, choose),
            Checkpoint::Unconditional => {
                self.entities[endpoint.slot()].entry.as_mut().map(choose).map_or(Reply::NoEntry, |()| Reply::Done)
            }
            Checkpoint::Whole => {
                self.entities[endpoint.slot()].entry.as_mut().map(choose);
                self.outdate(endpoint);
                Reply::Done
            }
        }
    }

    /// Ends a token. Without tombstones, a token that was never created stays unknown.
    fn end(&mut self, plan: &Plan, token: TokenId) {
        let state = &mut self.tokens[usize::from(token)];
        if *state == Token::Live || plan.tombstones {
            *state = Token::Gone;
        }
    }

    fn remove(&mut self, plan: &Plan, endpoint: Endpoint) -> Reply {
        if self.entities[endpoint.slot()].entry.take().is_some() {
            if plan.checkpoint == Checkpoint::Whole {
                self.outdate(endpoint);
            }
            self.delete(plan, endpoint);
        }
        Reply::Done
    }

    /// Makes the entity absent, if the plan says that a deletion leaves nothing behind.
    fn delete(&mut self, plan: &Plan, endpoint: Endpoint) {
        if plan.forgets {
            self.entities[endpoint.slot()].exists = false;
            self.forget(endpoint);
        }
    }
}
