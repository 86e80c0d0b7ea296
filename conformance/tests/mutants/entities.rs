//! Broken entities.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use storagebox_core::{
    Chosen, Commit, Committed, Consumed, Cursor, EntityChange, EntityLedger, EntryId, Joins, Key, MessageId, OpId,
    Opened, Page, Payload, Registered, Result, TokenId, TokenStore, Version, async_trait,
};

use crate::steps::{between_steps, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntityMistake {
    IgnoresTheVersion,
    CreatesOver,
    CommitsInTwoSteps,
    RemovesOtherEntries,
    DoesNotKnowARepetition,
    LastChoiceWins,
    ChoosesTheUnknown,
    RegistersLate,
    CachesWhatItOpened,
    PendingSkipsOne,
    VersionsBeginAnew,
    RemovesALaterEntry,
    ConsumesBefore,
    CreatesBefore,
    GoneIsDone,
    OpensInTwoSteps,
}

use EntityMistake as Mistake;

#[derive(Default)]
pub(crate) struct EntityState {
    made: Mutex<HashSet<OpId>>,
    seen: Mutex<HashMap<(Key, MessageId), Opened>>,
    /// For each entity, the number to subtract from the versions of the inner store.
    bases: Mutex<HashMap<Key, u64>>,
}

pub(crate) struct BrokenEntities {
    pub(crate) inner: Arc<dyn EntityLedger>,
    /// The ledger of the inner store, opened without joined tokens.
    pub(crate) split: Arc<dyn EntityLedger>,
    pub(crate) tokens: Option<Arc<dyn TokenStore>>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<EntityState>,
}

impl BrokenEntities {
    async fn version(&self, commit: &Commit) -> Result<Option<Version>> {
        Ok(self.inner.open(&commit.key, &commit.message, None).await?.version)
    }

    async fn commit_to_whatever(&self, commit: &Commit) -> Result<Committed> {
        let opened = self.version(commit).await?;
        self.inner.commit(&Commit { opened, ..commit.clone() }).await
    }

    /// Commits the state under another message, and adds the entry in a separate step.
    async fn commit_in_two_steps(&self, commit: &Commit) -> Result<Committed> {
        if commit.consume.is_some() || !commit.create.is_empty() {
            return self.inner.commit(commit).await;
        }
        let other = MessageId::new("the mutant's own")?;
        let first = Commit { message: other.clone(), entry: Some(Payload::default()), ..commit.clone() };
        let known = self.inner.open(&commit.key, &commit.message, None).await?;
        if known.entry.is_some() || known.version != commit.opened {
            return self.inner.commit(commit).await;
        }
        let committed = self.inner.commit(&first).await?;
        self.inner.remove(&EntryId { key: commit.key.clone(), message: other, commit: commit.attempt.clone() }).await?;
        between_steps().await;
        if committed == Committed::Committed {
            let opened = self.version(commit).await?;
            return self.inner.commit(&Commit { opened, change: EntityChange::Keep, ..commit.clone() }).await;
        }
        Ok(committed)
    }

    async fn remove_other_entries(&self, commit: &Commit) -> Result<()> {
        let all = self.inner.pending(None, 1_000).await?.entries;
        for entry in all.into_iter().filter(|entry| entry.key == commit.key && entry.message != commit.message) {
            self.inner.remove(&entry).await?;
        }
        Ok(())
    }

    /// Commits, and makes the versions of the entity start again at 1 if the commit deletes the entity.
    async fn commit_counted(&self, commit: &Commit) -> Result<Committed> {
        let base = lock(&self.state.bases).get(&commit.key).copied().unwrap_or_default();
        let opened = commit.opened.map(|version| Version::new(version.number() + base));
        let committed = self.inner.commit(&Commit { opened, ..commit.clone() }).await?;
        if commit.change == EntityChange::Delete
            && committed == Committed::Committed
            && let Some(version) = self.version(commit).await?
        {
            lock(&self.state.bases).insert(commit.key.clone(), version.number() - 1);
        }
        Ok(committed)
    }

    async fn consume_and_commit(&self, commit: &Commit) -> Result<Committed> {
        let (Some(tokens), Some(token), Some(_)) = (&self.tokens, &commit.consume, &commit.entry) else {
            return self.inner.commit(commit).await;
        };
        if tokens.consume(token, &commit.attempt).await? == Consumed::AlreadyGone {
            return Ok(Committed::TokenGone);
        }
        between_steps().await;
        self.inner.commit(&Commit { consume: None, ..commit.clone() }).await
    }

    async fn create_and_commit(&self, commit: &Commit) -> Result<Committed> {
        if let Some(tokens) = &self.tokens {
            tokens.create_tokens(&commit.create).await?;
        }
        self.inner.commit(commit).await
    }

    fn shown(&self, key: &Key, opened: Opened) -> Opened {
        let base = lock(&self.state.bases).get(key).copied().unwrap_or_default();
        let version = opened.version.map(|version| Version::new(version.number().saturating_sub(base)));
        Opened { version, ..opened }
    }

    async fn open_cached(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        if let Some(opened) = lock(&self.state.seen).remove(&(key.clone(), message.clone())) {
            return Ok(opened);
        }
        let opened = self.inner.open(key, message, token).await?;
        if opened.entry.is_some() {
            lock(&self.state.seen).insert((key.clone(), message.clone()), opened.clone());
        }
        Ok(opened)
    }

    async fn open_in_two_steps(&self, key: &Key, message: &MessageId, token: &TokenId) -> Result<Opened> {
        let opened = self.split.open(key, message, None).await?;
        between_steps().await;
        let token_is_live = match &self.tokens {
            Some(tokens) => Some(tokens.exists(token).await?),
            None => None,
        };
        Ok(Opened { token_is_live, ..opened })
    }

    /// Returns the id of the current entry of the same message.
    async fn current(&self, entry: &EntryId) -> Result<EntryId> {
        let opened = self.inner.open(&entry.key, &entry.message, None).await?;
        let commit = opened.entry.and_then(|entry| entry.attempts.first().cloned());
        Ok(EntryId { commit: commit.unwrap_or_else(|| entry.commit.clone()), ..entry.clone() })
    }
}

#[async_trait]
impl EntityLedger for BrokenEntities {
    async fn open(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        match (self.mistake, token) {
            (Some(Mistake::CachesWhatItOpened), _) => self.open_cached(key, message, token).await,
            (Some(Mistake::OpensInTwoSteps), Some(token)) if self.tokens.is_some() => {
                self.open_in_two_steps(key, message, token).await
            }
            _ => Ok(self.shown(key, self.inner.open(key, message, token).await?)),
        }
    }

    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        match self.mistake {
            Some(Mistake::IgnoresTheVersion) => self.commit_to_whatever(commit).await,
            Some(Mistake::CreatesOver) if commit.opened.is_none() => self.commit_to_whatever(commit).await,
            Some(Mistake::CommitsInTwoSteps) => self.commit_in_two_steps(commit).await,
            Some(Mistake::RemovesOtherEntries) => {
                let committed = self.inner.commit(commit).await?;
                self.remove_other_entries(commit).await.map(|()| committed)
            }
            Some(Mistake::DoesNotKnowARepetition) if !lock(&self.state.made).insert(commit.attempt.clone()) => {
                Ok(Committed::Conflict)
            }
            Some(Mistake::VersionsBeginAnew) => self.commit_counted(commit).await,
            Some(Mistake::ConsumesBefore) => self.consume_and_commit(commit).await,
            Some(Mistake::CreatesBefore) => self.create_and_commit(commit).await,
            Some(Mistake::GoneIsDone) => match self.inner.commit(commit).await? {
                Committed::TokenGone => Ok(Committed::Committed),
                other => Ok(other),
            },
            _ => self.inner.commit(commit).await,
        }
    }

    async fn register(&self, entry: &EntryId, attempt: &OpId) -> Result<Registered> {
        match self.inner.register(entry, attempt).await? {
            Registered::Chosen(_) if self.mistake == Some(Mistake::RegistersLate) => Ok(Registered::Registered),
            other => Ok(other),
        }
    }

    async fn choose(&self, entry: &EntryId, attempt: &OpId) -> Result<Chosen> {
        if self.mistake == Some(Mistake::ChoosesTheUnknown) {
            let _ = self.inner.register(entry, attempt).await?;
        }
        match self.inner.choose(entry, attempt).await? {
            Chosen::Chosen(mut entry) if self.mistake == Some(Mistake::LastChoiceWins) => {
                entry.chosen = Some(attempt.clone());
                Ok(Chosen::Chosen(entry))
            }
            other => Ok(other),
        }
    }

    async fn remove(&self, entry: &EntryId) -> Result<bool> {
        match self.mistake {
            Some(Mistake::RemovesALaterEntry) => self.inner.remove(&self.current(entry).await?).await,
            _ => self.inner.remove(entry).await,
        }
    }

    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        let mut page = self.inner.pending(cursor, limit).await?;
        if self.mistake == Some(Mistake::PendingSkipsOne) && page.next.is_some() {
            page.entries.pop();
        }
        Ok(page)
    }

    fn joins(&self) -> Joins {
        self.inner.joins()
    }
}
