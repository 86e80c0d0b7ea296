//! Entities: each call is one script (`lua/entity_ledger`), which changes the joined tokens in the same step.

mod answers;

use std::sync::Arc;

use storagebox_core::{
    Chosen, Commit, Committed, Cursor, EntityChange, EntityLedger, EntryId, Error, Joins, Key, MessageId, OpId, Opened,
    Page, Payload, Registered, Result, TokenId, Version, async_trait,
};
use tracing::instrument;

use crate::client::{Answer, Client, OpenNamespace, ScriptCall};
use crate::page;
use crate::script::{Script, script};
use crate::token_store::{RedisTokenStore, distinct};

static OPEN: Script = script!(
    "entity_open",
    READS,
    timed,
    ["number", "entity", "entry", "join", "buckets", "queue", "token", "joined"],
    "entity_ledger/open"
);
static COMMIT: Script = script!(
    "entity_commit",
    CHANGES,
    timed,
    ["number", "entity", "entry", "join", "buckets", "queue", "token", "joined"],
    "entity_ledger/commit"
);
static REGISTER: Script =
    script!("entity_register", CHANGES, timed, ["number", "entity", "entry"], "entity_ledger/register");
static CHOOSE: Script = script!("entity_choose", CHANGES, timed, ["number", "entity", "entry"], "entity_ledger/choose");
static REMOVE: Script = script!("entity_remove", CHANGES, timed, ["number", "entity", "entry"], "entity_ledger/remove");
static PENDING: Script =
    script!("entity_pending", READS, timed, ["number", "entity", "entry"], "entity_ledger/pending");
pub(crate) static MAINTAIN: Script =
    script!("entity_maintain", CHANGES, timed, ["number", "entity"], "entity_ledger/maintain");

/// The entities of one namespace, and the tokens that their commits consume and create.
#[derive(Debug)]
pub(crate) struct RedisEntityLedger {
    pub(crate) entities: Arc<OpenNamespace>,
    pub(crate) joins: Joins,
    pub(crate) incoming: Option<Arc<RedisTokenStore>>,
    pub(crate) outgoing: Option<Arc<RedisTokenStore>>,
}

impl RedisEntityLedger {
    fn client(&self) -> &Client {
        self.entities.client()
    }

    async fn open_once(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        let call = self.entities.call(&OPEN).await?;
        let call = joining(call, self.incoming.as_deref().filter(|_| token.is_some())).await?;
        let call = call.with(key.as_str()).with(message.as_str()).with(self.client().memory());
        answers::opened(&self.client().answer(&call.with(token.map(TokenId::as_str))).await?)
    }

    async fn commit_once(&self, commit: &Commit, create: &[&str]) -> Result<Committed> {
        let call = self.entities.call(&COMMIT).await?;
        let call = joining(call, self.incoming.as_deref().filter(|_| commit.consume.is_some())).await?;
        let call = joining(call, self.outgoing.as_deref().filter(|_| !create.is_empty())).await?;
        let (change, state) = change_and_state(&commit.change);
        let call = call.with(commit.key.as_str()).with(commit.message.as_str());
        let call = call.with(commit.opened.map(Version::number)).with(change).with(state);
        let call = call.with(commit.attempt.as_str()).with(commit.entry.is_some());
        let call = call.with(commit.entry.as_ref().map(Payload::as_bytes)).with(self.client().memory());
        let call = call.with(commit.consume.as_ref().map(TokenId::as_str)).with_all(create);
        answers::committed(&self.client().answer(&call).await?)
    }

    /// Runs a script on one entry, with the attempt if the script needs one.
    async fn about(&self, script: &'static Script, entry: &EntryId, attempt: Option<&OpId>) -> Result<Answer> {
        let call = self.entities.call(script).await?.with(entry.key.as_str()).with(entry.message.as_str());
        let call = call.with(entry.commit.as_str()).with(attempt.map(OpId::as_str));
        self.client().answer(&call).await
    }
}

/// Adds the key of the token namespace, if there is one, to the call.
async fn joining<'a>(call: ScriptCall<'a>, tokens: Option<&'a RedisTokenStore>) -> Result<ScriptCall<'a>> {
    match tokens {
        Some(tokens) => Ok(call.joining(tokens.0.key().await?)),
        None => Ok(call),
    }
}

/// Returns the word by which scripts name the change, and the new state if the change is a `Put`.
fn change_and_state(change: &EntityChange) -> (&'static str, Option<&[u8]>) {
    match change {
        EntityChange::Keep => ("keep", None),
        EntityChange::Put(state) => ("put", Some(state.as_bytes())),
        EntityChange::Delete => ("delete", None),
    }
}

#[async_trait]
impl EntityLedger for RedisEntityLedger {
    #[instrument(level = "trace", skip_all)]
    async fn open(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        if token.is_some() && self.incoming.is_none() {
            return Err(Error::invalid("token", "belongs to a namespace that this ledger does not join").on("redis"));
        }
        self.client().settle("open", || self.open_once(key, message, token)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        commit.checked(&self.joins).map_err(|error| error.on("redis"))?;
        let create = distinct(&commit.create);
        self.client().settle("commit", || self.commit_once(commit, &create)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn register(&self, entry: &EntryId, attempt: &OpId) -> Result<Registered> {
        let register = || async move { answers::registered(&self.about(&REGISTER, entry, Some(attempt)).await?) };
        self.client().settle("register", register).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn choose(&self, entry: &EntryId, attempt: &OpId) -> Result<Chosen> {
        let choose = || async move { answers::chosen(&self.about(&CHOOSE, entry, Some(attempt)).await?) };
        self.client().settle("choose", choose).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn remove(&self, entry: &EntryId) -> Result<bool> {
        let remove = || async move { answers::removed(&self.about(&REMOVE, entry, None).await?) };
        self.client().settle("remove", remove).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        let after = page::after::<answers::Position>(cursor)?;
        let limit = page::limit(limit)?;
        let attempt = || async {
            let call = self.entities.call(&PENDING).await?.with(after.as_str()).with(limit);
            answers::listed(&self.client().answer(&call.in_bulk()).await?)
        };
        self.client().settle("pending", attempt).await
    }

    fn joins(&self) -> Joins {
        self.joins.clone()
    }
}
