//! Tokens, which are live, or gone: consumed or discarded, and remembered as such.

use std::collections::{BTreeMap, BTreeSet};

use storagebox_core::{Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::striped::Striped;

#[derive(Debug)]
pub(crate) struct MemoryTokenStore {
    settings: Settings,
    tokens: Striped<BTreeMap<TokenId, Token>>,
}

#[derive(Debug)]
enum Token {
    Live,
    Gone { by: Option<OpId>, since: Time },
}

impl MemoryTokenStore {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, tokens: Striped::default() }
    }

    /// Runs one step on the token, or on `None` if it is unknown or forgotten. The step returns a new token, if any.
    fn step<T>(&self, token: &TokenId, step: impl FnOnce(Option<&Token>, Time) -> (Option<Token>, T)) -> T {
        let mut tokens = self.tokens.lock_for(token);
        let now = self.settings.now();
        let (next, outcome) = step(tokens.get(token).filter(|known| !self.is_forgotten(known, now)), now);
        if let Some(next) = next {
            tokens.insert(token.clone(), next);
        }
        outcome
    }

    fn read<T>(&self, token: &TokenId, read: impl FnOnce(Option<&Token>) -> T) -> T {
        self.step(token, |known, _| (None, read(known)))
    }

    fn is_forgotten(&self, token: &Token, now: Time) -> bool {
        matches!(token, Token::Gone { since, .. } if self.settings.is_forgotten(*since, now))
    }

    /// Forgets at most `budget` gone tokens that are past their retention, and returns how many.
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

    pub(crate) fn create_now(&self, tokens: &[TokenId]) -> Created {
        let mut report = Created::default();
        for token in distinct(tokens) {
            let count = self.step(token, |known, _| match known {
                Some(Token::Live) => (None, &mut report.already_live),
                Some(Token::Gone { .. }) => (None, &mut report.gone),
                None => (Some(Token::Live), &mut report.created),
            });
            *count += 1;
        }
        report
    }

    pub(crate) fn consume_now(&self, token: &TokenId, op: &OpId) -> Consumed {
        self.step(token, |known, now| match known {
            Some(Token::Live) => (Some(Token::Gone { by: Some(op.clone()), since: now }), Consumed::Now),
            Some(Token::Gone { by: Some(by), .. }) if by == op => (None, Consumed::Again),
            Some(Token::Gone { .. }) | None => (None, Consumed::AlreadyGone),
        })
    }
}

fn distinct(tokens: &[TokenId]) -> impl Iterator<Item = &TokenId> {
    tokens.iter().collect::<BTreeSet<_>>().into_iter()
}

#[async_trait]
impl TokenStore for MemoryTokenStore {
    #[instrument(level = "trace", skip_all)]
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        Ok(self.create_now(tokens))
    }

    #[instrument(level = "trace", skip_all)]
    async fn exists(&self, token: &TokenId) -> Result<bool> {
        Ok(self.is_live(token))
    }

    #[instrument(level = "trace", skip_all)]
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        Ok(self.consume_now(token, op))
    }

    #[instrument(level = "trace", skip_all)]
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let mut report = Discarded::default();
        for token in distinct(tokens) {
            let count = self.step(token, |known, now| {
                let fence = Some(Token::Gone { by: None, since: now });
                match known {
                    Some(Token::Live) => (fence, &mut report.discarded),
                    Some(Token::Gone { .. }) => (None, &mut report.already_gone),
                    None => (fence, &mut report.already_gone),
                }
            });
            *count += 1;
        }
        Ok(report)
    }
}
