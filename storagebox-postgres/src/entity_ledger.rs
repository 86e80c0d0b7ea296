//! Entities and their entries: each call is one function of the schema (`sql/entity_ledger`).

mod answers;

use std::collections::BTreeSet;
use std::sync::Arc;

use sqlx::Row;
use storagebox_core::backend::PageRequest;
use storagebox_core::{
    Chosen, Commit, Committed, Cursor, EntityChange, EntityLedger, EntryId, Error, Joins, Key, MessageId, OpId, Opened,
    Page, Payload, Registered, Result, TokenId, async_trait,
};
use tracing::instrument;

use crate::client::{self, Client, FunctionCall, OpenNamespace};
use crate::dedup_repo::number;
use crate::error::read;

use answers::{Listed, Position};

/// The entities of one namespace, and the token namespaces that commits of these entities may change.
#[derive(Debug)]
pub(crate) struct PostgresEntityLedger {
    pub(crate) entities: OpenNamespace,
    pub(crate) joins: Joins,
    pub(crate) incoming: Option<Arc<OpenNamespace>>,
    pub(crate) outgoing: Option<Arc<OpenNamespace>>,
}

async fn joined(tokens: Option<&OpenNamespace>) -> Result<Option<client::Opened>> {
    match tokens {
        Some(tokens) => tokens.opened().await.map(Some),
        None => Ok(None),
    }
}

impl PostgresEntityLedger {
    fn client(&self) -> &Client {
        self.entities.client()
    }

    async fn call_of<'a>(&self, commit: &'a Commit) -> Result<FunctionCall<'a>> {
        let (changes, state) = match &commit.change {
            EntityChange::Keep => (false, None),
            EntityChange::Put(state) => (true, Some(state.as_bytes())),
            EntityChange::Delete => (true, None),
        };
        let (consume, create) = (commit.consume.as_ref(), sorted(&commit.create));
        let outgoing = self.outgoing.as_deref().filter(|_| !create.is_empty());
        Ok(FunctionCall::value("entity_commit")
            .about(self.entities.opened().await?)
            .with(commit.key.as_str())
            .with(commit.message.as_str())
            .with(commit.opened.map(number))
            .with(changes)
            .with(state)
            .with(commit.attempt.as_str())
            .with(commit.entry.as_ref().map(Payload::as_bytes))
            .joining(joined(consume.and(self.incoming.as_deref())).await?)
            .with(consume.map(TokenId::as_str))
            .joining(joined(outgoing).await?)
            .with(create)
            .with(self.client().memory()))
    }

    async fn call_about<'a>(&self, call: FunctionCall<'a>, entry: &'a EntryId) -> Result<FunctionCall<'a>> {
        Ok(call
            .about(self.entities.opened().await?)
            .with(entry.key.as_str())
            .with(entry.message.as_str())
            .with(entry.commit.as_str()))
    }
}

/// Returns each token once, in the order in which all calls lock tokens.
fn sorted(tokens: &[TokenId]) -> Vec<&str> {
    tokens.iter().map(TokenId::as_str).collect::<BTreeSet<_>>().into_iter().collect()
}

#[async_trait]
impl EntityLedger for PostgresEntityLedger {
    #[instrument(level = "trace", skip_all)]
    async fn open(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        let incoming = token.and(self.incoming.as_deref());
        if token.is_some() && incoming.is_none() {
            return Err(Error::invalid("token", "belongs to a namespace that this ledger does not join").on("postgres"));
        }
        let attempt = || async move {
            let call = FunctionCall::rows("entity_open")
                .about(self.entities.opened().await?)
                .with(key.as_str())
                .with(message.as_str())
                .joining(joined(incoming).await?)
                .with(token.map(TokenId::as_str))
                .with(self.client().memory());
            answers::opened(&self.client().row(&call).await?)
        };
        self.client().settle("open", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        commit.checked(&self.joins).map_err(|error| error.on("postgres"))?;
        let attempt = || async move { answers::committed(&self.client().row(&self.call_of(commit).await?).await?) };
        self.client().settle("commit", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn register(&self, entry: &EntryId, attempt: &OpId) -> Result<Registered> {
        let call = || async move {
            let call = self.call_about(FunctionCall::rows("entity_register"), entry).await?.with(attempt.as_str());
            answers::registered(self.client().rows(&call).await?.first())
        };
        self.client().settle("register", call).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn choose(&self, entry: &EntryId, attempt: &OpId) -> Result<Chosen> {
        let call = || async move {
            let call = self.call_about(FunctionCall::rows("entity_choose"), entry).await?.with(attempt.as_str());
            answers::chosen(self.client().rows(&call).await?.first())
        };
        self.client().settle("choose", call).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn remove(&self, entry: &EntryId) -> Result<bool> {
        let attempt = || async move {
            let call = self.call_about(FunctionCall::value("entity_remove"), entry).await?;
            read("entity_remove", self.client().row(&call).await?.try_get(0))
        };
        self.client().settle("remove", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        let listing = &PageRequest::of::<Position>("postgres", cursor, limit)?;
        let after = Position::try_from(listing.after()).ok();
        let (key, message) = Position::texts(after.as_ref());
        let attempt = || async move {
            let call = FunctionCall::rows("entity_pending")
                .about(self.entities.opened().await?)
                .with(key)
                .with(message)
                .with(listing.limit());
            let entries = self.client().rows(&call).await?.iter().map(answers::listed).collect::<Result<_>>()?;
            let page = listing.page(entries, |last: &Listed| &last.position);
            Ok(Page { entries: page.entries.into_iter().map(|listed| listed.entry).collect(), next: page.next })
        };
        self.client().settle("pending", attempt).await
    }

    fn joins(&self) -> Joins {
        self.joins.clone()
    }
}
