//! Everything that still matters at one moment.

use crate::store::{Entity, Request, Token};
use crate::worker::Worker;

/// The incoming token of the first message, and those that its handler's attempts create.
pub(crate) const TOKENS: usize = 5;
pub(crate) const WORKERS: usize = 3;
pub(crate) const IN_FLIGHT: usize = 2;

/// A token, by its number. The first message comes with number 0.
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

    /// Whether its handler sends a message.
    pub(crate) fn sends(self) -> bool {
        self == Self::Upstream
    }
}

/// Tokens, as bits.
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
    /// How many ids have been drawn.
    pub(crate) drawn: u8,
    pub(crate) entities: [Entity; 2],
    pub(crate) workers: [Option<Worker>; WORKERS],
    pub(crate) in_flight: [Option<Request>; IN_FLIGHT],
    /// The tokens with which the second message was sent.
    pub(crate) sent: Set,
    /// Whether a copy of its message was acknowledged: nobody has to deliver it again.
    pub(crate) acknowledged: [bool; 2],
    /// How often its message changed it; two stands for more.
    pub(crate) changes: [u8; 2],
    /// A token was created that had been consumed or discarded.
    pub(crate) resurrected: bool,
    /// A message was sent before its token was there.
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

    /// The copies that anyone may receive.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (Endpoint, TokenId)> {
        let second = self.sent.iter().map(|token| (Endpoint::Downstream, token));
        std::iter::once((Endpoint::Upstream, FIRST)).chain(second)
    }

    /// An id that no attempt has had.
    pub(crate) fn draw(&mut self, most: u8) -> Option<TokenId> {
        (self.drawn < most).then(|| {
            self.drawn += 1;
            self.drawn
        })
    }

    /// The entity was written: whoever loaded it before has an old version.
    pub(crate) fn outdate(&mut self, endpoint: Endpoint) {
        let workers = self.workers.iter_mut().flatten();
        workers.filter(|worker| worker.endpoint == endpoint).for_each(|worker| worker.stale = true);
        let requests = self.in_flight.iter_mut().flatten();
        requests.filter(|request| request.endpoint == endpoint).for_each(|request| request.stale = true);
    }

    /// The entity is absent as it once was: whoever found it absent then cannot tell.
    pub(crate) fn forget(&mut self, endpoint: Endpoint) {
        let workers = self.workers.iter_mut().flatten();
        let of_old = workers.filter(|worker| worker.endpoint == endpoint && worker.found_absent);
        of_old.for_each(|worker| worker.stale = false);
        let requests = self.in_flight.iter_mut().flatten();
        let of_old = requests.filter(|request| request.endpoint == endpoint && request.found_absent);
        of_old.for_each(|request| request.stale = false);
    }

    /// Workers and requests are all alike, whatever their place.
    pub(crate) fn canonical(mut self) -> Self {
        self.workers.sort_unstable();
        self.in_flight.sort_unstable();
        self
    }
}
