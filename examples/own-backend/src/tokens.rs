//! Live tokens, and tokens that are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storagebox_core::{Clock, Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};

use crate::is_forgotten;

#[derive(Debug)]
pub(crate) struct Tokens {
    clock: Arc<dyn Clock>,
    sets: Mutex<TokenSets>,
}

#[derive(Debug, Default)]
struct TokenSets {
    live: BTreeSet<TokenId>,
    /// For each ended token: the operation that consumed the token (`None` for a discarded token), and the time of the
    /// end.
    gone: BTreeMap<TokenId, (Option<OpId>, Duration)>,
}

impl Tokens {
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Self {
        Self { clock: Arc::clone(clock), sets: Mutex::default() }
    }

    /// Begins an atomic step: locks the sets of tokens, and then reads the clock.
    fn step(&self) -> (MutexGuard<'_, TokenSets>, Duration) {
        let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        (sets, self.clock.now())
    }

    /// Deletes at most `most` ended tokens that need not be remembered any more. Returns the number of deleted tokens.
    pub(crate) fn maintain(&self, most: usize) -> usize {
        let (mut sets, now) = self.step();
        let forgotten = sets.gone.iter().filter(|(_, (_, ended))| is_forgotten(*ended, now));
        let forgotten: Vec<_> = forgotten.map(|(token, _)| token.clone()).take(most).collect();
        forgotten.iter().for_each(|token| drop(sets.gone.remove(token)));
        forgotten.len()
    }
}

impl TokenSets {
    /// Returns the entry of an ended token. Returns `None` for a live, unknown or forgotten token.
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
        let (mut sets, now) = self.step();
        let mut created = Created::default();
        for token in tokens.iter().collect::<BTreeSet<_>>() {
            if sets.end_of(token, now).is_some() {
                created.gone += 1;
            } else if sets.live.insert(token.clone()) {
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
        let (mut sets, now) = self.step();
        if sets.live.remove(token) {
            sets.gone.insert(token.clone(), (Some(op.clone()), now));
            return Ok(Consumed::Now);
        }
        let is_mine = sets.end_of(token, now).is_some_and(|(by, _)| by.as_ref() == Some(op));
        Ok(if is_mine { Consumed::Again } else { Consumed::AlreadyGone })
    }

    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let (mut sets, now) = self.step();
        let mut discarded = Discarded::default();
        for token in tokens.iter().collect::<BTreeSet<_>>() {
            if sets.live.remove(token) {
                discarded.discarded += 1;
            } else {
                discarded.already_gone += 1;
            }
            // An unknown token is marked as gone too, so that a late `create` does not create it (T-7).
            if sets.end_of(token, now).is_none() {
                sets.gone.insert(token.clone(), (None, now));
            }
        }
        Ok(discarded)
    }
}
