//! Entities, each with the entries of its messages. A commit changes its joined tokens in the same transaction
//! (`sql/entity_ledger`).

mod commit;
mod entry;
mod pending;

use std::sync::Arc;

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::backend::PageRequest;
use storagebox_core::{
    Chosen, Commit, Committed, Cursor, EntityLedger, EntryId, Error, Joins, Key, MessageId, Namespace, OpId, Opened,
    Page, Payload, Registered, Result, TokenId, Version, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Kind, OpenNamespace};
use crate::error::{read, unreadable};

use commit::{Joined, Making};
use pending::{Listed, Position};

const OPEN: &str = include_str!("../sql/entity_ledger/open.sql");
const PENDING: &str = include_str!("../sql/entity_ledger/pending.sql");

const ENTITY: &str = "an entity";

#[derive(Debug)]
pub(crate) struct SqliteEntityLedger {
    entities: Arc<OpenNamespace>,
    joins: Joins,
    joined: Joined,
}

impl SqliteEntityLedger {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace, joins: &Joins) -> Self {
        let entities = Arc::new(OpenNamespace::new(client, Kind::Entities, name));
        Self { entities, joins: joins.clone(), joined: Joined::new(client, joins) }
    }
}

fn opened(row: &SqliteRow) -> Result<Opened> {
    let state: Option<Vec<u8>> = read(ENTITY, row.try_get("state"))?;
    let state = state.map(Payload::new).transpose().map_err(|_| unreadable(ENTITY))?;
    let is_live: bool = read("a token", row.try_get("is_live"))?;
    Ok(Opened { version: version(row)?, state, entry: entry::beside(row)?, token_is_live: Some(is_live) })
}

fn version(row: &SqliteRow) -> Result<Option<Version>> {
    let version: Option<i64> = read(ENTITY, row.try_get("version"))?;
    Ok(version.map(|version| Version::new(version.unsigned_abs())))
}

#[async_trait]
impl EntityLedger for SqliteEntityLedger {
    #[instrument(level = "trace", skip_all)]
    async fn open(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        if token.is_some() && self.joins.incoming.is_none() {
            return Err(Error::invalid("token", "belongs to a namespace that this ledger does not join").on("sqlite"));
        }
        let (key, message) = (key.as_str().to_owned(), message.as_str().to_owned());
        let tokens = self.joins.incoming.as_ref().map(|tokens| tokens.as_str().to_owned());
        let asked = token.map(|token| token.as_str().to_owned());
        let rows = self.entities.look("open", OPEN, move |ask| {
            ask.bind(key.clone()).bind(message.clone()).bind(tokens.clone()).bind(asked.clone())
        });
        let opened = opened(rows.await?.first().ok_or_else(|| unreadable(ENTITY))?)?;
        Ok(Opened { token_is_live: opened.token_is_live.filter(|_| token.is_some()), ..opened })
    }

    #[instrument(level = "trace", skip_all)]
    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        commit.checked(&self.joins).map_err(|error| error.on("sqlite"))?;
        let making = Making::of(commit, &self.joined)?;
        self.entities.write("commit", making, |step, making| Box::pin(making.make(step))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn register(&self, id: &EntryId, attempt: &OpId) -> Result<Registered> {
        let attempt = (id.clone(), attempt.clone());
        self.entities.write("register", attempt, |step, attempt| Box::pin(entry::register(step, attempt))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn choose(&self, id: &EntryId, attempt: &OpId) -> Result<Chosen> {
        let attempt = (id.clone(), attempt.clone());
        self.entities.write("choose", attempt, |step, attempt| Box::pin(entry::choose(step, attempt))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn remove(&self, id: &EntryId) -> Result<bool> {
        self.entities.write("remove", id.clone(), |step, id| Box::pin(entry::remove(step, id))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        let listing = PageRequest::of::<Position>("sqlite", cursor, limit)?;
        let (key, message) = pending::after(&listing);
        let most = listing.limit();
        let rows =
            self.entities.look("pending", PENDING, move |ask| ask.bind(key.clone()).bind(message.clone()).bind(most));
        let listed = rows.await?.iter().map(Listed::of).collect::<Result<_>>()?;
        let Page { entries, next } = listing.page(listed, |last: &Listed| last.position.as_str());
        Ok(Page { entries: entries.into_iter().map(|listed| listed.entry).collect(), next })
    }

    fn joins(&self) -> Joins {
        self.joins.clone()
    }
}
