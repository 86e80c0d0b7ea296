//! Entities: a row for each, and one for each entry of its outbox.
//!
//! A commit is one transaction of both rows, and of the joined tokens. Everything else about an entry is one conditional
//! update of its row, so nobody who finishes a message is in the way of those who change the entity.
//!
//! What is removed of an entry leaves a fence for as long as operation ids are remembered: by the fences upkeep knows
//! when an entity was changed last.

mod commit;
mod forget;
mod rows;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use storagebox_core::{
    Certainty, Chosen, Commit, Committed, Cursor, EntityLedger, EntryId, Error, ErrorKind, Joins, Key, MessageId,
    Namespace, OpId, Opened, OutboxEntry, Page, Registered, Result, TokenId, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Index, Kind, OpenNamespace, Tag, Write, Wrote};
use crate::error::{self, bad};
use crate::page::{self, Position};
use crate::row::{EXPIRES, Row, RowKey};
use crate::token_store::DynamoTokenStore;

use commit::Call;
pub(crate) use forget::FORGOTTEN;
use rows::{CHOOSABLE, Entity, GONE, MOST_ATTEMPTS, REGISTRABLE, REMOVABLE, entry, group, is_named, listed, texts};

/// The partitions of the entries.
const ENTRIES: &str = "entries";

/// The entities of one name.
#[derive(Debug)]
pub(crate) struct Entities {
    open: OpenNamespace,
}

impl Entities {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { open: OpenNamespace::new(client, Kind::Entities, name) }
    }

    fn client(&self) -> &Client {
        self.open.client()
    }

    /// An entity has a partition of its own, which is as fast as one can be.
    async fn entity_key(&self, key: &Key) -> Result<RowKey> {
        self.open.shards().await?;
        Ok(RowKey::alone(self.open.key(format_args!("entity:{key}"))))
    }

    async fn entry_key(&self, key: &Key, message: &MessageId) -> Result<RowKey> {
        let partition = self.open.partition_of(ENTRIES, key.as_str()).await?;
        Ok(RowKey::new(partition, format!("{}{message}", group(key))))
    }

    /// Registers an attempt of an entry that is open.
    async fn registered(&self, id: &EntryId, attempt: &OpId, tag: &Tag) -> Result<Registered> {
        let key = self.entry_key(&id.key, &id.message).await?;
        let write = Write::update(&key).tagged(tag).set_to("a", "list_append(a, :own)");
        let write = write.value(":own", texts([attempt])).value(":attempt", attempt.as_str());
        let write = only_of(id, write.value(":most", MOST_ATTEMPTS as u64), REGISTRABLE);
        let row = match self.client().write_to(&key, &write, |row| entry(row).map(drop)).await? {
            Wrote::Done(_) => return Ok(Registered::Registered),
            Wrote::Refused(row) => row,
        };
        match found(row.as_ref(), id)? {
            None => Ok(Registered::Gone),
            Some(entry) if entry.chosen.is_some() => Ok(Registered::Chosen(entry)),
            Some(entry) if entry.attempts.contains(attempt) => Ok(Registered::Registered),
            Some(entry) if entry.attempts.len() >= MOST_ATTEMPTS => Err(too_many_attempts()),
            Some(_) => Err(moving()),
        }
    }

    async fn chosen(&self, id: &EntryId, attempt: &OpId, tag: &Tag) -> Result<Chosen> {
        let key = self.entry_key(&id.key, &id.message).await?;
        let write = Write::update(&key).tagged(tag).set("p", attempt.as_str()).answering_new();
        let write = only_of(id, write.value(":bytes", "B"), CHOOSABLE);
        let entry = match self.client().write(&write).await? {
            Wrote::Done(row) => found(row.as_ref(), id).map_err(Error::after_unresolved)?,
            Wrote::Refused(row) => found(row.as_ref(), id)?,
        };
        match entry {
            Some(entry) if !entry.attempts.contains(attempt) => Ok(Chosen::Gone),
            Some(entry) if entry.chosen.is_some() => Ok(Chosen::Chosen(entry)),
            Some(_) => Err(moving()),
            None => Ok(Chosen::Gone),
        }
    }

    /// Leaves a fence in the place of the entry. A late attempt finds it, or the entry of another commit.
    async fn removed(&self, id: &EntryId, tag: &Tag, was_lost: bool) -> Result<bool> {
        let key = self.entry_key(&id.key, &id.message).await?;
        let forgotten = self.open.forgotten_after(self.client().now());
        let fence = Write::update(&key).tagged(tag).set("s", GONE).remove(&["o", "d", "v", "a", "p"]);
        let fence = fence.set_some("g", forgotten.map(|at| at.0));
        let fence = fence.set_some(EXPIRES, forgotten.map(|at| self.client().deletable(at)));
        let row = match self.client().write(&only_of(id, fence, REMOVABLE)).await? {
            Wrote::Done(_) => return Ok(true),
            Wrote::Refused(row) => row,
        };
        match row {
            Some(row) if tag.is_on(&row) => Ok(true),
            Some(row) if entry(&row)?.is_none() && row.text("c") == Some(id.commit.as_str()) => Ok(false),
            _ => Ok(was_lost),
        }
    }
}

/// The write under a condition that names the entry.
fn only_of(id: &EntryId, write: Write, condition: &str) -> Write {
    write.only_if(condition).value(":commit", id.commit.as_str()).value(":key", id.key.as_str())
}

/// The entry in the row, if it is this one, and none that the same message had before or has now.
fn found(row: Option<&Row>, id: &EntryId) -> Result<Option<OutboxEntry>> {
    let found = row.map_or(Ok(None), entry)?;
    Ok(found.filter(|entry| is_named(entry, &id.commit)))
}

/// The row has changed between a refusal and the look at it.
fn moving() -> Error {
    Error::new(ErrorKind::Contention, error::CONFLICT).on("dynamo")
}

fn too_many_attempts() -> Error {
    let why = format!("an entry must have at most {MOST_ATTEMPTS} attempts; choose one of them");
    Error::new(ErrorKind::TooLarge, why).with("limit", MOST_ATTEMPTS).on("dynamo")
}

/// The entities, with the tokens that their commits change as well.
#[derive(Debug)]
pub(crate) struct DynamoEntityLedger {
    pub(crate) entities: Arc<Entities>,
    pub(crate) joins: Joins,
    pub(crate) incoming: Option<Arc<DynamoTokenStore>>,
    pub(crate) outgoing: Option<Arc<DynamoTokenStore>>,
}

impl DynamoEntityLedger {
    fn client(&self) -> &Client {
        self.entities.client()
    }

    /// All of it at one moment.
    async fn opened(
        &self,
        key: &Key,
        message: &MessageId,
        token: Option<(&DynamoTokenStore, &TokenId)>,
    ) -> Result<Opened> {
        let mut keys = vec![self.entities.entity_key(key).await?, self.entities.entry_key(key, message).await?];
        if let Some((tokens, token)) = token {
            keys.push(tokens.key(token).await?);
        }
        let mut rows = self.client().get_together(&keys).await?.into_iter();
        let entity = rows.next().flatten().as_ref().map(Entity::read).transpose()?;
        let entry = rows.next().flatten().as_ref().map_or(Ok(None), entry)?;
        let token_is_live = token.map(|(tokens, _)| tokens.is_live(rows.next().flatten())).transpose()?;
        let (version, state) = entity.map(|entity| (entity.version, entity.state)).unzip();
        Ok(Opened { version, state: state.flatten(), entry, token_is_live })
    }
}

#[async_trait]
impl EntityLedger for DynamoEntityLedger {
    #[instrument(level = "trace", skip_all)]
    async fn open(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        let incoming = match (&self.incoming, token) {
            (_, None) => None,
            (Some(tokens), Some(token)) => Some((&**tokens, token)),
            (None, Some(_)) => return Err(bad("token", "is none that the ledger joins")),
        };
        self.client().settled("open", || self.opened(key, message, incoming)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let call = &Call::new(self, commit)?;
        self.client().settle("commit", || call.attempt()).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn register(&self, id: &EntryId, attempt: &OpId) -> Result<Registered> {
        let tag = Tag::fresh();
        self.client().settle("register", || self.entities.registered(id, attempt, &tag)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn choose(&self, id: &EntryId, attempt: &OpId) -> Result<Chosen> {
        let tag = Tag::fresh();
        self.client().settle("choose", || self.entities.chosen(id, attempt, &tag)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn remove(&self, id: &EntryId) -> Result<bool> {
        let (tag, was_lost) = (&Tag::fresh(), &AtomicBool::new(false));
        let attempt = || async move {
            let removed = self.entities.removed(id, tag, was_lost.load(Relaxed)).await;
            removed.inspect_err(|error| {
                was_lost.fetch_or(error.certainty() == Certainty::Unknown, Relaxed);
            })
        };
        self.client().settle("remove", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        let position = &Position::read(cursor, limit)?;
        let attempt = || async move {
            let open = &self.entities.open;
            let page = page::rows(open, (ENTRIES, Index::Order), position, limit, |look| look).await?;
            Ok(Page { entries: page.entries.iter().map(listed).collect::<Result<_>>()?, next: page.next })
        };
        self.client().settled("pending", attempt).await
    }

    fn joins(&self) -> Joins {
        self.joins.clone()
    }
}
