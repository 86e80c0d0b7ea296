//! Commits to entities.

use std::sync::Arc;

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::{Commit, Committed, Consumed, EntityChange, Joins, OpId, Payload, Result, TokenId, Version};

use super::{ENTITY, entry, version};
use crate::client::{Client, Kind, OpenNamespace, Step, Texts};
use crate::clock::Micros;
use crate::error::{read, unreadable};
use crate::token_store;

const KNOWN: &str = include_str!("../../sql/entity_ledger/known.sql");
const PUT: &str = include_str!("../../sql/entity_ledger/put.sql");
const ADD: &str = include_str!("../../sql/entity_ledger/add.sql");

/// The token namespaces that commits may change.
#[derive(Debug)]
pub(super) struct Joined {
    incoming: Option<Arc<OpenNamespace>>,
    outgoing: Option<Arc<OpenNamespace>>,
}

impl Joined {
    pub(super) fn new(client: &Arc<Client>, joins: &Joins) -> Self {
        let tokens = |name| Arc::new(OpenNamespace::new(client, Kind::Tokens, name));
        Self { incoming: joins.incoming.as_ref().map(tokens), outgoing: joins.outgoing.as_ref().map(tokens) }
    }
}

/// A commit, with the tokens that it changes and their namespaces.
pub(super) struct Making {
    commit: Commit,
    consume: Option<(Arc<OpenNamespace>, (TokenId, OpId))>,
    create: Option<(Arc<OpenNamespace>, Vec<Texts>)>,
}

impl Making {
    pub(super) fn of(commit: &Commit, joined: &Joined) -> Result<Self> {
        let consumed = commit.consume.clone().map(|token| (token, commit.attempt.clone()));
        let created = (!commit.create.is_empty()).then(|| token_store::batches(&commit.create)).transpose()?;
        let (consume, create) = (joined.incoming.clone().zip(consumed), joined.outgoing.clone().zip(created));
        Ok(Self { commit: commit.clone(), consume, create })
    }

    /// Makes the commit: enters the token namespaces, then makes all checks, and only then changes rows.
    pub(super) async fn make(&self, step: &mut Step<'_>) -> Result<Committed> {
        let incoming = entered(step, self.consume.as_ref().map(|(place, _)| place)).await?;
        let outgoing = entered(step, self.create.as_ref().map(|(place, _)| place)).await?;
        let known = self.known(step, incoming).await?;
        if known.is_made_by(&self.commit.attempt) {
            return Ok(Committed::Committed);
        }
        if known.added_by.is_some() || known.version != self.commit.opened {
            return Ok(Committed::Conflict);
        }
        if !self.consumes(step, incoming).await? {
            return Ok(Committed::TokenGone);
        }
        self.create(step, outgoing).await?;
        self.put(step, known.next()?).await?;
        Ok(Committed::Committed)
    }

    async fn known(&self, step: &mut Step<'_>, incoming: Option<i64>) -> Result<CommitState> {
        let token = self.consume.as_ref().map(|(_, (token, _))| token.as_str());
        let asked = step.ask(KNOWN).bind(self.commit.key.as_str()).bind(self.commit.message.as_str());
        let row = step.row(asked.bind(incoming).bind(token)).await?;
        CommitState::of(&row.ok_or_else(|| unreadable(ENTITY))?, step.forgotten)
    }

    /// Consumes the token of the commit, if there is one. Returns `false` if the token is gone.
    async fn consumes(&self, step: &mut Step<'_>, incoming: Option<i64>) -> Result<bool> {
        let Some((incoming, (_, consumed))) = incoming.zip(self.consume.as_ref()) else {
            return Ok(true);
        };
        Ok(token_store::consume(&mut step.within(incoming), consumed).await? == Consumed::Now)
    }

    async fn create(&self, step: &mut Step<'_>, outgoing: Option<i64>) -> Result<()> {
        let Some((outgoing, (_, created))) = outgoing.zip(self.create.as_ref()) else {
            return Ok(());
        };
        for tokens in created {
            token_store::create(&mut step.within(outgoing), tokens).await?;
        }
        Ok(())
    }

    async fn put(&self, step: &mut Step<'_>, version: i64) -> Result<()> {
        let (stays, state) = match &self.commit.change {
            EntityChange::Keep => (true, None),
            EntityChange::Put(state) => (false, Some(state.as_bytes())),
            EntityChange::Delete => (false, None),
        };
        step.change(step.ask(PUT).bind(self.commit.key.as_str()).bind(version).bind(stays).bind(state)).await?;
        match &self.commit.entry {
            Some(content) => self.add(step, content).await,
            None => entry::rest(step, &self.commit.key).await,
        }
    }

    async fn add(&self, step: &mut Step<'_>, content: &Payload) -> Result<()> {
        let attempt = self.commit.attempt.as_str();
        let chosen = self.create.is_some().then_some(attempt);
        let add = step.ask(ADD).bind(self.commit.key.as_str()).bind(self.commit.message.as_str());
        step.change(add.bind(attempt).bind(chosen).bind(content.as_bytes())).await.map(drop)
    }
}

async fn entered(step: &mut Step<'_>, place: Option<&Arc<OpenNamespace>>) -> Result<Option<i64>> {
    match place {
        Some(place) => step.enter(place).await.map(Some),
        None => Ok(None),
    }
}

/// The stored state on which a commit depends, without forgotten rows.
struct CommitState {
    /// The highest version that an entity of the namespace has had.
    last: Option<i64>,
    version: Option<Version>,
    /// The commit that added the entry of the message.
    added_by: Option<String>,
    /// The operation that consumed the token.
    consumed_by: Option<String>,
}

impl CommitState {
    fn of(row: &SqliteRow, forgotten: Micros) -> Result<Self> {
        let text = |column| read::<Option<String>>(ENTITY, row.try_get(column));
        let number = |column| read::<Option<i64>>(ENTITY, row.try_get(column));
        let (gone_at, consumed_at) = (number("gone_at")?, number("consumed_at")?);
        Ok(Self {
            last: number("last")?,
            version: version(row)?.filter(|_| gone_at.is_none_or(|at| Micros(at) > forgotten)),
            added_by: text("added_by")?,
            consumed_by: text("consumed_by")?.filter(|_| consumed_at.is_some_and(|at| Micros(at) > forgotten)),
        })
    }

    fn next(&self) -> Result<i64> {
        self.last.and_then(|last| last.checked_add(1)).ok_or_else(|| unreadable("the last version"))
    }

    /// Returns whether this attempt was committed before.
    fn is_made_by(&self, attempt: &OpId) -> bool {
        [&self.added_by, &self.consumed_by].into_iter().flatten().any(|by| by == attempt.as_str())
    }
}
