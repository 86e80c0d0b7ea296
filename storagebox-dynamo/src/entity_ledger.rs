//! Entities: one row per entity, and one row per entry of its outbox.
//!
//! A commit is one transaction of both rows and of the joined tokens. Every other call changes only the row of an
//! entry, by one conditional update, so it does not conflict with commits of the entity.
//!
//! A removed entry leaves a fence for as long as operation ids are remembered. Upkeep keeps an entity as long as one of
//! its fences is remembered.

mod commit;
mod forget;
mod rows;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use aws_sdk_dynamodb::types::ReturnValue;
use storagebox_core::{
    Certainty, Chosen, Commit, Committed, Cursor, EntityLedger, EntryId, Error, ErrorKind, Joins, Key, MessageId,
    Namespace, OpId, Opened, OutboxEntry, Page, Registered, Result, TokenId, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Index, Kind, OpenNamespace, Tag, Write, Wrote};
use crate::clock::Millis;
use crate::error::{bad, contention};
use crate::page::{self, Position};
use crate::row::{Row, RowKey};
use crate::token_store::DynamoTokenStore;

use commit::CommitCall;
pub(crate) use forget::FORGOTTEN;
use rows::{
    CHOOSABLE, EARLIER, Entity, GONE, MOST_ATTEMPTS, REGISTRABLE, REMOVABLE, SEEN, changed, entry, group, is_named,
    listed, made, texts,
};

/// The text in the partition keys of the rows of entries.
const ENTRIES: &str = "entries";

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

    /// Returns the key of an entity's row, which has its own partition.
    async fn entity_key(&self, key: &Key) -> Result<RowKey> {
        self.open.shards().await?;
        Ok(RowKey::alone(self.open.key(format_args!("entity:{key}"))))
    }

    async fn entry_key(&self, key: &Key, message: &MessageId) -> Result<RowKey> {
        let partition = self.open.key_of(ENTRIES, key.as_str()).await?.partition;
        Ok(RowKey::new(partition, format!("{}{message}", group(key))))
    }

    /// Makes a write, and a second write if the entry was changed in the present millisecond. A late copy of either
    /// write changes no newer entry.
    async fn write(&self, id: &EntryId, key: &RowKey, write: Write, condition: &str) -> Result<Wrote> {
        let (client, now, check) = (self.client(), self.client().now(), |row: &Row| entry(row).map(drop));
        let write = write.value(":commit", id.commit.as_str()).value(":key", id.key.as_str());
        let earlier = write.clone().only_if(format!("{condition} AND {EARLIER}")).value(":now", now.0);
        let row = match client.write_to(key, &earlier, check).await? {
            Wrote::Refused(Some(row)) => row,
            wrote => return Ok(wrote),
        };
        let Some(young) = found(Some(&row), id)?.filter(|_| changed(&row).is_ok_and(|changed| changed >= now)) else {
            return Ok(Wrote::Refused(Some(row)));
        };
        let seen = write.only_if(format!("{condition} AND {SEEN}")).value(":made", made(&row)?);
        client.write_to(key, &seen.value(":count", young.attempts.len() as u64), check).await
    }

    /// Registers an attempt of the entry, unless an attempt is already chosen.
    async fn registered(&self, id: &EntryId, attempt: &OpId, tag: &Tag) -> Result<Registered> {
        let key = self.entry_key(&id.key, &id.message).await?;
        let write = Write::update(&key).tagged(tag).set_to("a", "list_append(a, :own)").set("b", self.client().now().0);
        let write = write.value(":own", texts([attempt])).value(":attempt", attempt.as_str());
        let write = write.value(":most", MOST_ATTEMPTS as u64);
        let row = match self.write(id, &key, write, REGISTRABLE).await? {
            Wrote::Done(_) => return Ok(Registered::Registered),
            Wrote::Refused(row) => row,
        };
        match found(row.as_ref(), id)? {
            None => Ok(Registered::Gone),
            Some(entry) if entry.chosen.is_some() => Ok(Registered::Chosen(entry)),
            Some(entry) if entry.attempts.contains(attempt) => Ok(Registered::Registered),
            Some(entry) if entry.attempts.len() >= MOST_ATTEMPTS => Err(too_many_attempts()),
            Some(_) => Err(contention()),
        }
    }

    async fn chosen(&self, id: &EntryId, attempt: &OpId, tag: &Tag) -> Result<Chosen> {
        let key = self.entry_key(&id.key, &id.message).await?;
        let write = Write::update(&key).tagged(tag).set("p", attempt.as_str()).answering(ReturnValue::AllNew);
        let write = write.value(":bytes", "B").value(":text", "S");
        let entry = match self.write(id, &key, write, CHOOSABLE).await? {
            Wrote::Done(row) => found(row.as_ref(), id).map_err(Error::after_unresolved)?,
            Wrote::Refused(row) => found(row.as_ref(), id)?,
        };
        match entry {
            Some(entry) if !entry.attempts.contains(attempt) => Ok(Chosen::Gone),
            Some(entry) if entry.chosen.is_some() => Ok(Chosen::Chosen(entry)),
            Some(_) => Err(contention()),
            None => Ok(Chosen::Gone),
        }
    }

    /// Marks the entry as removed, and deletes its content. Returns whether this call removed the entry; `None` means
    /// unknown.
    async fn removed(&self, id: &EntryId, removal: &Removal) -> Result<Option<bool>> {
        let (key, now) = (self.entry_key(&id.key, &id.message).await?, self.client().now());
        let fence = Write::update(&key).tagged(&removal.tag).set("s", GONE).set("y", now.0);
        let fence = fence.remove(&["o", "d", "v", "a", "p", "m"]);
        let fence = fence.expiring(self.open.expiry_after(Some(now)));
        match self.write(id, &key, fence, REMOVABLE).await? {
            Wrote::Done(_) => Ok(Some(true)),
            Wrote::Refused(None) => Ok(Some(false)),
            Wrote::Refused(Some(row)) => removal.judge(&row, id),
        }
    }
}

#[derive(Debug)]
struct Removal {
    tag: Tag,
    /// The latest time that had passed on every clock when the call began.
    begun: Millis,
    was_lost: AtomicBool,
}

impl Removal {
    fn new(client: &Client) -> Self {
        Self { tag: Tag::fresh(), begun: client.surely_past(), was_lost: AtomicBool::new(false) }
    }

    fn note(&self, error: &Error) {
        self.was_lost.fetch_or(error.certainty() == Certainty::Unknown, Relaxed);
    }

    /// Returns whether this call removed the entry; `row` is the present row of the message. Returns `None` if a
    /// lost attempt may have removed the entry before the row was written.
    fn judge(&self, row: &Row, id: &EntryId) -> Result<Option<bool>> {
        let is_there = entry(row)?.is_some();
        match row.text("c") == Some(id.commit.as_str()) {
            true if is_there => Err(contention()),
            true => Ok(Some(self.tag.is_on(row))),
            false if self.was_lost.load(Relaxed) && changed(row)? >= self.begun => Ok(None),
            false => Ok(Some(false)),
        }
    }
}

/// Returns the entry in the row if the entry has this id.
fn found(row: Option<&Row>, id: &EntryId) -> Result<Option<OutboxEntry>> {
    let found = row.map_or(Ok(None), entry)?;
    Ok(found.filter(|entry| is_named(entry, &id.commit)))
}

fn too_many_attempts() -> Error {
    let why = format!("the entry has {MOST_ATTEMPTS} attempts, which is the maximum; choose one of them");
    Error::new(ErrorKind::TooLarge, why).with("limit", MOST_ATTEMPTS).on("dynamo")
}

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

    /// Reads the entity, the entry of the message and the token at one moment.
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
            (None, Some(_)) => return Err(bad("token", "belongs to a namespace that this ledger does not join")),
        };
        self.client().settle("open", || self.opened(key, message, incoming)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        let call = &CommitCall::new(self, commit)?;
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
        let removal = &Removal::new(self.client());
        let attempt = || async move {
            let removed = self.entities.removed(id, removal).await;
            removed.inspect_err(|error| removal.note(error))
        };
        let removed = self.client().settle("remove", attempt).await?;
        let why = "a reply was lost, and the message has had another entry since then";
        removed.ok_or_else(|| Error::unknown(why).on("dynamo").during("remove"))
    }

    #[instrument(level = "trace", skip_all)]
    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        let position = &Position::read(cursor, limit)?;
        let attempt = || async move {
            let open = &self.entities.open;
            let page = page::rows(open, (ENTRIES, Index::Order), position, limit, |query| query).await?;
            Ok(Page { entries: page.entries.iter().map(listed).collect::<Result<_>>()?, next: page.next })
        };
        self.client().settle("pending", attempt).await
    }

    fn joins(&self) -> Joins {
        self.joins.clone()
    }
}
