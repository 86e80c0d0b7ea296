//! Tokens. A token is live or gone. The store remembers a gone token, which was consumed or discarded.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use storagebox_core::{Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::transaction::{Entry, Keyed, Open, each_of};

#[derive(Debug)]
pub(crate) struct MemoryTokenStore {
    settings: Settings,
    tokens: Keyed<TokenId, Token>,
    gate: Gate,
}

/// A lock of the whole store that keeps transactions from changing tokens while the commit of an entity checks and
/// changes its tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<RwLock<()>>);

impl Gate {
    fn pass(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Debug)]
enum Token {
    Live,
    Gone { by: Option<OpId>, since: Time },
}

impl MemoryTokenStore {
    pub(crate) fn new(settings: Settings, gate: Gate) -> Self {
        Self { settings, tokens: Keyed::default(), gate }
    }

    pub(crate) fn joined(&self, by: &Open) -> Self {
        Self { settings: self.settings.clone(), tokens: self.tokens.joined(by), gate: self.gate.clone() }
    }

    fn change<T>(&self, token: &TokenId, step: impl FnOnce(Option<&Token>, Time) -> (Option<Token>, T)) -> Result<T> {
        let _closed = self.tokens.transaction().map(|_| self.gate.close());
        Ok(self.step(token, self.tokens.to_change(token)?, step))
    }

    fn read<T>(&self, token: &TokenId, read: impl FnOnce(Option<&Token>) -> T) -> T {
        self.step(token, self.tokens.to_read(token), |known, _| (None, read(known)))
    }

    /// Calls `step` with the token, or with `None` if the token is unknown or forgotten. `step` may return a new state
    /// of the token.
    fn step<T>(
        &self,
        token: &TokenId,
        mut tokens: Entry<'_, TokenId, Token>,
        step: impl FnOnce(Option<&Token>, Time) -> (Option<Token>, T),
    ) -> T {
        let now = self.settings.now();
        let (next, outcome) = step(tokens.get(token).filter(|known| !self.is_forgotten(known, now)), now);
        if let Some(next) = next {
            tokens.insert(token.clone(), next);
        }
        outcome
    }

    /// Reserves the token for a change. Returns `Contention` if another transaction has changed the token.
    fn own(&self, token: &TokenId) -> Result<()> {
        self.change(token, |_, _| (None, ()))
    }

    /// Calls `change`, which consumes and creates the given tokens. If another transaction has changed one of the
    /// tokens, returns `Contention` and does not call `change`.
    pub(crate) fn together<T>(
        (incoming, consumed): (Option<&Self>, Option<&TokenId>),
        (outgoing, created): (Option<&Self>, &[TokenId]),
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _passed = incoming.or(outgoing).map(|tokens| tokens.gate.pass());
        incoming.zip(consumed).map_or(Ok(()), |(tokens, token)| tokens.own(token))?;
        outgoing.map_or(Ok(()), |tokens| created.iter().try_for_each(|token| tokens.own(token)))?;
        change()
    }

    fn is_forgotten(&self, token: &Token, now: Time) -> bool {
        matches!(token, Token::Gone { since, .. } if self.settings.is_forgotten(*since, now))
    }

    pub(crate) fn maintain(&self, budget: usize) -> usize {
        let now = self.settings.now();
        self.tokens.spend(budget, |tokens, budget| {
            let mut used = 0;
            tokens.retain(|_, known| {
                let forget = used < budget && self.is_forgotten(known, now);
                used += usize::from(forget);
                !forget
            });
            used
        })
    }

    pub(crate) fn is_live(&self, token: &TokenId) -> bool {
        self.read(token, |known| matches!(known, Some(Token::Live)))
    }

    pub(crate) fn was_consumed_by(&self, token: &TokenId, op: &OpId) -> bool {
        self.read(token, |known| matches!(known, Some(Token::Gone { by: Some(by), .. }) if by == op))
    }

    pub(crate) fn create_now(&self, tokens: &[TokenId]) -> Result<Created> {
        let mut report = Created::default();
        self.each(tokens, |token| {
            let count = self.change(token, |known, _| match known {
                Some(Token::Live) => (None, &mut report.already_live),
                Some(Token::Gone { .. }) => (None, &mut report.gone),
                None => (Some(Token::Live), &mut report.created),
            })?;
            *count += 1;
            Ok(())
        })?;
        Ok(report)
    }

    fn each(&self, tokens: &[TokenId], step: impl FnMut(&TokenId) -> Result<()>) -> Result<()> {
        let distinct: BTreeSet<_> = tokens.iter().collect();
        each_of(self.tokens.transaction(), || distinct.iter().copied(), |token| self.own(token), step)
    }

    pub(crate) fn consume_now(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        self.change(token, |known, now| match known {
            Some(Token::Live) => (Some(Token::Gone { by: Some(op.clone()), since: now }), Consumed::Now),
            Some(Token::Gone { by: Some(by), .. }) if by == op => (None, Consumed::Again),
            Some(Token::Gone { .. }) | None => (None, Consumed::AlreadyGone),
        })
    }
}

#[async_trait]
impl TokenStore for MemoryTokenStore {
    #[instrument(level = "trace", skip_all)]
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        self.create_now(tokens)
    }

    #[instrument(level = "trace", skip_all)]
    async fn exists(&self, token: &TokenId) -> Result<bool> {
        Ok(self.is_live(token))
    }

    #[instrument(level = "trace", skip_all)]
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        self.consume_now(token, op)
    }

    #[instrument(level = "trace", skip_all)]
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let mut report = Discarded::default();
        self.each(tokens, |token| {
            let count = self.change(token, |known, now| {
                let fence = Some(Token::Gone { by: None, since: now });
                match known {
                    Some(Token::Live) => (fence, &mut report.discarded),
                    Some(Token::Gone { .. }) => (None, &mut report.already_gone),
                    None => (fence, &mut report.already_gone),
                }
            })?;
            *count += 1;
            Ok(())
        })?;
        Ok(report)
    }
}
