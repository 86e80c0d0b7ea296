//! Tokens: the set of those that live, and the end of those that are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storagebox_core::{Clock, Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};

use crate::is_forgotten;

#[derive(Debug)]
pub(crate) struct Tokens {
    clock: Arc<dyn Clock>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    live: BTreeSet<TokenId>,
    /// By whom each was consumed, if it was not discarded, and when.
    gone: BTreeMap<TokenId, (Option<OpId>, Duration)>,
}

impl Tokens {
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self { clock: Arc::clone(clock), known: Mutex::default() }
    }

    /// What is known, and the time. One lock is one step.
    fn step(&self) -> (MutexGuard<'_, Known>, Duration) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (known, self.clock.now())
    }

    /// Forgets at most so many tokens that are gone; returns how many.
    pub(crate) fn maintain(&self, most: usize) -> usize {
        let (mut known, now) = self.step();
        let forgotten = known.gone.iter().filter(|(_, (_, ended))| is_forgotten(*ended, now));
        let forgotten: Vec<_> = forgotten.map(|(token, _)| token.clone()).take(most).collect();
        forgotten.iter().for_each(|token| drop(known.gone.remove(token)));
        forgotten.len()
    }
}

impl Known {
    /// By whom and when the token was ended, unless that is forgotten.
    fn end_of(&mut self, token: &TokenId, now: Duration) -> Option<&(Option<OpId>, Duration)> {
        if self.gone.get(token).is_some_and(|(_, ended)| is_forgotten(*ended, now)) {
            self.gone.remove(token);
        }
        self.gone.get(token)
    }
}

#[async_trait]
impl TokenStore for Tokens {
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        let (mut known, now) = self.step();
        let mut created = Created::default();
        for token in tokens.iter().collect::<BTreeSet<_>>() {
            if known.end_of(token, now).is_some() {
                created.gone += 1;
            } else if known.live.insert(token.clone()) {
                created.created += 1;
            } else {
                created.already_live += 1;
            }
        }
        Ok(created)
    }

    async fn exists(&self, token: &TokenId) -> Result<bool> {
        Ok(self.step().0.live.contains(token))
    }

    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let (mut known, now) = self.step();
        if known.live.remove(token) {
            known.gone.insert(token.clone(), (Some(op.clone()), now));
            return Ok(Consumed::Now);
        }
        let is_mine = known.end_of(token, now).is_some_and(|(by, _)| by.as_ref() == Some(op));
        Ok(if is_mine { Consumed::Again } else { Consumed::AlreadyGone })
    }

    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let (mut known, now) = self.step();
        let mut discarded = Discarded::default();
        for token in tokens.iter().collect::<BTreeSet<_>>() {
            if known.live.remove(token) {
                discarded.discarded += 1;
            } else {
                discarded.already_gone += 1;
            }
            // An unknown token gets an end too, which keeps a late `create` out (T-7).
            if known.end_of(token, now).is_none() {
                known.gone.insert(token.clone(), (None, now));
            }
        }
        Ok(discarded)
    }
}
