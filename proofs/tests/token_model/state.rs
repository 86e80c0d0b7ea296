//! Everything that matters for the future at one moment.

use crate::store::{Entity, Request, Token};
use crate::worker::Worker;

/// The number of tokens: the incoming token of the first message, and the tokens that its handler's attempts create.
pub(crate) const TOKENS: usize = 5;
pub(crate) const WORKERS: usize = 3;
pub(crate) const IN_FLIGHT: usize = 2;

/// The number of a token. The first message carries token 0.
pub(crate) type TokenId = u8;

pub(crate) const FIRST: TokenId = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Endpoint {
    Upstream,
    Downstream,
}

impl Endpoint {
    pub(crate) const BOTH: [Self; 2] = [Self::Upstream, Self::Downstream];

    pub(crate) fn slot(self) -> usize {
        self as usize
    }

    /// Returns whether the endpoint's handler sends a message.
    pub(crate) fn sends(self) -> bool {
        self == Self::Upstream
    }
}

/// A set of tokens, with one bit per token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Set(u8);

impl Set {
    pub(crate) fn of(token: TokenId) -> Self {
        Self(1 << token)
    }

    pub(crate) fn with(self, token: TokenId) -> Self {
        Self(self.0 | 1 << token)
    }

    pub(crate) fn without(self, token: TokenId) -> Self {
        Self(self.0 & !(1 << token))
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = TokenId> {
        (0..TOKENS as TokenId).filter(move |token| self.0 & 1 << token != 0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) tokens: [Token; TOKENS],
    /// The number of token ids that workers have drawn.
    pub(crate) drawn: u8,
    pub(crate) entities: [Entity; 2],
    pub(crate) workers: [Option<Worker>; WORKERS],
    pub(crate) in_flight: [Option<Request>; IN_FLIGHT],
    /// The tokens with which copies of the second message were sent.
    pub(crate) sent: Set,
    /// For each endpoint, whether a copy of its message was acknowledged.
    pub(crate) acknowledged: [bool; 2],
    /// For each endpoint, how often its message changed the entity; 2 stands for two or more.
    pub(crate) changes: [u8; 2],
    /// Whether a consumed or discarded token was created again.
    pub(crate) resurrected: bool,
    /// Whether a message was sent before its token existed.
    pub(crate) hasty: bool,
}

impl State {
    pub(crate) fn new() -> Self {
        let mut tokens = [Token::Unknown; TOKENS];
        tokens[usize::from(FIRST)] = Token::Live;
        Self {
            tokens,
            drawn: 0,
            entities: [Entity::default(); 2],
            workers: [None; WORKERS],
            in_flight: [None; IN_FLIGHT],
            sent: Set::default(),
            acknowledged: [false; 2],
            changes: [0; 2],
            resurrected: false,
            hasty: false,
        }
    }

    pub(crate) fn token(&self, token: TokenId) -> Token {
        self.tokens[usize::from(token)]
    }

    pub(crate) fn entity(&self, endpoint: Endpoint) -> Entity {
        self.entities[endpoint.slot()]
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.workers.iter().all(Option::is_none) && self.in_flight.iter().all(Option::is_none)
    }

    /// Returns the copies that any worker may receive.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (Endpoint, TokenId)> {
        let second = self.sent.iter().map(|token| (Endpoint::Downstream, token));
        std::iter::once((Endpoint::Upstream, FIRST)).chain(second)
    }

    /// Returns a new token id, or `None` if `most` ids are already drawn.
    pub(crate) fn draw(&mut self, most: u8) -> Option<TokenId> {
        (self.drawn < most).then(|| {
            self.drawn += 1;
            self.drawn
        })
    }

    /// Marks the workers and requests of this endpoint as stale, because the entity was written.
    pub(crate) fn outdate(&mut self, endpoint: Endpoint) {
        let workers = self.workers.iter_mut().flatten();
        workers.filter(|worker| worker.endpoint == endpoint).for_each(|worker| worker.stale = true);
        let requests = self.in_flight.iter_mut().flatten();
        requests.filter(|request| request.endpoint == endpoint).for_each(|request| request.stale = true);
    }

    /// Removes the stale mark from the workers and requests that found the entity absent.
    pub(crate) fn forget(&mut self, endpoint: Endpoint) {
        // The entity is absent again, and a worker that found it absent before cannot detect the change.
        let workers = self.workers.iter_mut().flatten();
        let of_old = workers.filter(|worker| worker.endpoint == endpoint && worker.found_absent);
        of_old.for_each(|worker| worker.stale = false);
        let requests = self.in_flight.iter_mut().flatten();
        let of_old = requests.filter(|request| request.endpoint == endpoint && request.found_absent);
        of_old.for_each(|request| request.stale = false);
    }

    /// Sorts workers and requests, so that states that differ only in their order become equal.
    pub(crate) fn canonical(mut self) -> Self {
        self.workers.sort_unstable();
        self.in_flight.sort_unstable();
        self
    }
}
