//! Broken token stores.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::{
    Clock, Consumed, Created, Discarded, ManualClock, OpId, Result, TokenId, TokenStore, async_trait,
};

use crate::steps::{Renamed, UnderWay, between_steps, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenMistake {
    ChecksThenDeletes,
    CreatesTheGone,
    CreatesTheDiscarded,
    UnknownConsumes,
    RetryDenied,
    AgainForAnyone,
    LiveTokensExpire,
    CachesExists,
    BusyIsAbsent,
    AcknowledgesBeforeWriting,
    DropsTheTail,
    CreatesTheLive,
    DiscardDoesNotFence,
    DiscardTellsTwice,
}

use TokenMistake as Mistake;

#[derive(Default)]
pub(crate) struct TokenState {
    /// The tokens that were ever created or discarded, and the time of the first such call.
    known: Mutex<HashMap<TokenId, Duration>>,
    discarded: Mutex<HashSet<TokenId>>,
    anew: Renamed,
    seen: Mutex<HashMap<TokenId, bool>>,
    busy: AtomicUsize,
    unwritten: Mutex<Vec<TokenId>>,
}

pub(crate) struct BrokenTokens {
    pub(crate) inner: Arc<dyn TokenStore>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<TokenState>,
    pub(crate) clock: ManualClock,
}

const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);

impl BrokenTokens {
    /// Returns the id of this token in the inner store.
    fn below(&self, token: &TokenId) -> Result<TokenId> {
        TokenId::new(self.state.anew.below(token.as_str()))
    }

    fn all_below(&self, tokens: &[TokenId]) -> Result<Vec<TokenId>> {
        tokens.iter().map(|token| self.below(token)).collect()
    }

    fn is_known(&self, token: &TokenId) -> bool {
        lock(&self.state.known).contains_key(token)
    }

    fn know(&self, tokens: &[TokenId]) {
        let now = self.clock.now();
        for token in tokens {
            lock(&self.state.known).entry(token.clone()).or_insert(now);
        }
    }

    /// If the mistake is to forget ends, makes the inner store forget that the token was consumed or discarded.
    fn forget_its_end(&self, token: &TokenId) {
        let discarded = lock(&self.state.discarded).contains(token);
        match self.mistake {
            Some(Mistake::CreatesTheGone) => self.state.anew.begin_anew(token.as_str()),
            Some(Mistake::CreatesTheDiscarded) if discarded => self.state.anew.begin_anew(token.as_str()),
            _ => {}
        }
    }

    async fn create_even_gone(&self, tokens: &[TokenId]) -> Result<Created> {
        let mut report = Created::default();
        for token in tokens.iter().collect::<BTreeSet<_>>() {
            let mut created = self.inner.create_tokens(&[self.below(token)?]).await?;
            if created.gone == 1 {
                self.forget_its_end(token);
                created = self.inner.create_tokens(&[self.below(token)?]).await?;
            }
            report.created += created.created;
            report.already_live += created.already_live;
            report.gone += created.gone;
        }
        Ok(report)
    }

    /// Keeps new tokens in the client until the client makes its next call.
    async fn create_later(&self, tokens: &[TokenId]) -> Result<Created> {
        let distinct: BTreeSet<_> = tokens.iter().collect();
        let mut report = Created::default();
        for token in distinct {
            let live = self.inner.exists(token).await?;
            report.already_live += u64::from(live);
            report.created += u64::from(!live);
        }
        lock(&self.state.unwritten).extend_from_slice(tokens);
        Ok(report)
    }

    async fn before_each_call(&self) -> Result<()> {
        let unwritten = std::mem::take(&mut *lock(&self.state.unwritten));
        if !unwritten.is_empty() {
            self.inner.create_tokens(&unwritten).await?;
        }
        if self.mistake == Some(Mistake::LiveTokensExpire) {
            self.expire().await?;
        }
        Ok(())
    }

    async fn expire(&self) -> Result<()> {
        let now = self.clock.now();
        let old: Vec<_> = lock(&self.state.known)
            .extract_if(|_, since| since.saturating_add(MONTH) <= now)
            .map(|(token, _)| token)
            .collect();
        self.inner.discard(&old).await?;
        Ok(())
    }

    async fn check_then_delete(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let lives = self.inner.exists(token).await?;
        between_steps().await;
        let consumed = self.inner.consume(token, op).await?;
        Ok(if lives { Consumed::Now } else { consumed })
    }

    /// Returns false while another call is in progress, even if the token is live.
    async fn exists_unless_busy(&self, token: &TokenId) -> Result<bool> {
        let (_under_way, others) = UnderWay::enter(&self.state.busy);
        between_steps().await;
        Ok(others == 0 && self.inner.exists(token).await?)
    }

    async fn consume_unless_busy(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let (_under_way, others) = UnderWay::enter(&self.state.busy);
        between_steps().await;
        if others > 0 {
            return Ok(Consumed::AlreadyGone);
        }
        self.inner.consume(token, op).await
    }

    async fn exists_as_seen(&self, token: &TokenId) -> Result<bool> {
        let seen = lock(&self.state.seen).get(token).copied();
        if let Some(seen) = seen {
            return Ok(seen);
        }
        let exists = self.inner.exists(token).await?;
        lock(&self.state.seen).insert(token.clone(), exists);
        Ok(exists)
    }

    async fn consume_the_unknown(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        if !self.is_known(token) {
            self.know(std::slice::from_ref(token));
            self.inner.create_tokens(std::slice::from_ref(token)).await?;
        }
        self.inner.consume(token, op).await
    }
}

#[async_trait]
impl TokenStore for BrokenTokens {
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        self.before_each_call().await?;
        self.know(tokens);
        match self.mistake {
            Some(Mistake::CreatesTheGone | Mistake::CreatesTheDiscarded) => self.create_even_gone(tokens).await,
            Some(Mistake::AcknowledgesBeforeWriting) => self.create_later(tokens).await,
            Some(Mistake::DropsTheTail) if tokens.len() > 100 => {
                // Writes one page of 100, and reports all tokens.
                let rest = (tokens.len() - 100) as u64;
                let mut report = self.inner.create_tokens(&tokens[..100]).await?;
                report.created += rest;
                Ok(report)
            }
            Some(Mistake::CreatesTheLive) => {
                let report = self.inner.create_tokens(tokens).await?;
                Ok(Created { created: report.created + report.already_live, already_live: 0, ..report })
            }
            _ => self.inner.create_tokens(tokens).await,
        }
    }

    async fn exists(&self, token: &TokenId) -> Result<bool> {
        self.before_each_call().await?;
        let token = &self.below(token)?;
        match self.mistake {
            Some(Mistake::CachesExists) => self.exists_as_seen(token).await,
            Some(Mistake::BusyIsAbsent) => self.exists_unless_busy(token).await,
            _ => self.inner.exists(token).await,
        }
    }

    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        self.before_each_call().await?;
        let known = self.is_known(token);
        let token = &self.below(token)?;
        let consumed = match self.mistake {
            Some(Mistake::ChecksThenDeletes) => self.check_then_delete(token, op).await?,
            Some(Mistake::UnknownConsumes) => self.consume_the_unknown(token, op).await?,
            Some(Mistake::BusyIsAbsent) => self.consume_unless_busy(token, op).await?,
            _ => self.inner.consume(token, op).await?,
        };
        Ok(match (self.mistake, consumed) {
            (Some(Mistake::RetryDenied), Consumed::Again) => Consumed::AlreadyGone,
            (Some(Mistake::AgainForAnyone), Consumed::AlreadyGone) if known => Consumed::Again,
            (_, consumed) => consumed,
        })
    }

    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        self.before_each_call().await?;
        let below = self.all_below(tokens)?;
        lock(&self.state.discarded).extend(tokens.iter().cloned());
        if self.mistake == Some(Mistake::DiscardDoesNotFence) {
            return self.discard_the_known(tokens).await;
        }
        let report = self.inner.discard(&below).await?;
        Ok(match self.mistake {
            Some(Mistake::DiscardTellsTwice) => {
                Discarded { discarded: report.discarded + report.already_gone, already_gone: 0 }
            }
            _ => report,
        })
    }
}

impl BrokenTokens {
    /// Discards only the known tokens. Reports the unknown tokens as gone, but writes nothing for them.
    async fn discard_the_known(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let distinct: BTreeSet<_> = tokens.iter().cloned().collect();
        let (known, unknown): (Vec<_>, Vec<_>) = distinct.into_iter().partition(|token| self.is_known(token));
        let mut report = self.inner.discard(&known).await?;
        report.already_gone += unknown.len() as u64;
        Ok(report)
    }
}
