//! Entities: each step holds the lock of its entity, also while it changes joined tokens.

use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox_core::{
    Chosen, Commit, Committed, Consumed, Cursor, EntityChange, EntityLedger, EntryId, Error, Joins, Key, MessageId,
    OpId, Opened, OutboxEntry, Page, Payload, Registered, Result, TokenId, Version, async_trait,
};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::striped::{STRIPES, Striped, not_ours, position};
use crate::token_store::MemoryTokenStore;

#[derive(Debug)]
pub(crate) struct Entities {
    settings: Settings,
    entities: Striped<Stripe>,
    /// The version that the next change of any entity gets. All entities share the counter, so that no version repeats
    /// after an entity is forgotten.
    versions: AtomicU64,
}

type Stripe = BTreeMap<Key, Entity>;

#[derive(Debug)]
struct Entity {
    version: Version,
    state: Option<Payload>,
    outbox: BTreeMap<MessageId, OutboxEntry>,
    /// The time of the entity's last change, from which the retention of a deleted entity counts.
    since: Time,
}

impl Entity {
    fn is_empty(&self) -> bool {
        self.state.is_none() && self.outbox.is_empty()
    }

    fn change(&mut self, change: &EntityChange) {
        match change {
            EntityChange::Keep => {}
            EntityChange::Put(state) => self.state = Some(state.clone()),
            EntityChange::Delete => self.state = None,
        }
    }

    fn commit(&mut self, commit: &Commit, version: Version, now: Time) {
        (self.version, self.since) = (version, now);
        self.change(&commit.change);
        self.outbox.extend(new_entry(commit));
    }
}

impl Entities {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, entities: Striped::default(), versions: AtomicU64::new(1) }
    }

    /// Calls `step` with the entity, or with `None` if the entity does not exist or its deletion is forgotten.
    fn step<T>(&self, key: &Key, step: impl FnOnce(Option<&mut Entity>, Time) -> T) -> T {
        let mut entities = self.entities.lock_for(key);
        let now = self.settings.now();
        step(self.remembered(&mut entities, key, now), now)
    }

    fn step_on_entry<T>(&self, id: &EntryId, step: impl FnOnce(Option<&mut OutboxEntry>) -> T) -> T {
        self.step(&id.key, |entity, _| {
            let entry = entity.and_then(|entity| entity.outbox.get_mut(&id.message));
            step(entry.filter(|entry| is_named(entry, id)))
        })
    }

    fn remembered<'a>(&self, entities: &'a mut Stripe, key: &Key, now: Time) -> Option<&'a mut Entity> {
        entities.get_mut(key).filter(|entity| !self.is_forgotten(entity, now))
    }

    fn is_forgotten(&self, entity: &Entity, now: Time) -> bool {
        entity.is_empty() && self.settings.is_forgotten(entity.since, now)
    }

    fn next_version(&self) -> Version {
        Version::new(self.versions.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn maintain(&self, budget: usize) -> usize {
        let now = self.settings.now();
        self.entities.spend(budget, |entities, budget| {
            let mut used = 0;
            entities.retain(|_, entity| {
                let forget = used < budget && self.is_forgotten(entity, now);
                used += usize::from(forget);
                !forget
            });
            used
        })
    }
}

/// The entities of one namespace, and the token namespaces that commits of these entities may change.
#[derive(Debug)]
pub(crate) struct MemoryEntityLedger {
    pub(crate) entities: Arc<Entities>,
    pub(crate) joins: Joins,
    pub(crate) incoming: Option<Arc<MemoryTokenStore>>,
    pub(crate) outgoing: Option<Arc<MemoryTokenStore>>,
}

impl MemoryEntityLedger {
    /// Makes the whole commit under the lock of the entity.
    fn commit_now(&self, commit: &Commit) -> Result<Committed> {
        let mut entities = self.entities.entities.lock_for(&commit.key);
        let now = self.entities.settings.now();
        let known = self.entities.remembered(&mut entities, &commit.key, now);
        // The token is consumed here. Nothing after this line can fail.
        if let Some(refused_or_done) = self.tokens_changed(known.as_deref(), commit)? {
            return Ok(refused_or_done);
        }
        let version = self.entities.next_version();
        match known {
            Some(entity) => entity.commit(commit, version, now),
            None => {
                let mut entity = Entity { version, state: None, outbox: BTreeMap::new(), since: now };
                entity.commit(commit, version, now);
                entities.insert(commit.key.clone(), entity);
            }
        }
        Ok(Committed::Committed)
    }

    /// Changes the joined tokens and returns `None`. Returns the outcome if the commit is refused or was made before.
    fn tokens_changed(&self, known: Option<&Entity>, commit: &Commit) -> Result<Option<Committed>> {
        let entry = known.and_then(|entity| entity.outbox.get(&commit.message));
        if entry.is_some_and(|entry| entry.attempts.first() == Some(&commit.attempt)) {
            return Ok(Some(Committed::Committed));
        }
        let joined = self.incoming.as_ref().zip(commit.consume.as_ref());
        // Versions never repeat, so an entity that still has the opened version was not changed by this commit.
        // Otherwise the consumed token shows whether the commit was made.
        if entry.is_some() || known.map(|entity| entity.version) != commit.opened {
            let was_made = joined.is_some_and(|(tokens, token)| tokens.was_consumed_by(token, &commit.attempt));
            return Ok(Some(if was_made { Committed::Committed } else { Committed::Conflict }));
        }
        let (incoming, outgoing) = (self.incoming.as_deref(), self.outgoing.as_deref());
        let (consumed, created) = ((incoming, commit.consume.as_ref()), (outgoing, &*commit.create));
        MemoryTokenStore::together(consumed, created, || {
            match joined.map(|(tokens, token)| tokens.consume_now(token, &commit.attempt)).transpose()? {
                Some(Consumed::Again) => return Ok(Some(Committed::Committed)),
                Some(Consumed::AlreadyGone) => return Ok(Some(Committed::TokenGone)),
                Some(Consumed::Now) | None => {}
            }
            outgoing.map(|tokens| tokens.create_now(&commit.create)).transpose()?;
            Ok(None)
        })
    }
}

/// Whether the entry was added by the commit that `id` names.
fn is_named(entry: &OutboxEntry, id: &EntryId) -> bool {
    // Another commit for the same message may have added the entry.
    entry.attempts.first() == Some(&id.commit)
}

fn new_entry(commit: &Commit) -> Option<(MessageId, OutboxEntry)> {
    let content = commit.entry.clone()?;
    let chosen = (!commit.create.is_empty()).then(|| commit.attempt.clone());
    Some((commit.message.clone(), OutboxEntry { content, attempts: vec![commit.attempt.clone()], chosen }))
}

#[async_trait]
impl EntityLedger for MemoryEntityLedger {
    #[instrument(level = "trace", skip_all)]
    async fn open(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened> {
        let incoming = match (token, &self.incoming) {
            (None, _) => None,
            (Some(token), Some(tokens)) => Some((token, tokens)),
            (Some(_), None) => {
                return Err(
                    Error::invalid("token", "belongs to a namespace that this ledger does not join").on("memory")
                );
            }
        };
        Ok(self.entities.step(key, |entity, _| Opened {
            version: entity.as_ref().map(|entity| entity.version),
            state: entity.as_ref().and_then(|entity| entity.state.clone()),
            entry: entity.and_then(|entity| entity.outbox.get(message).cloned()),
            token_is_live: incoming.map(|(token, tokens)| tokens.is_live(token)),
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn commit(&self, commit: &Commit) -> Result<Committed> {
        commit.checked(&self.joins).map_err(|error| error.on("memory"))?;
        self.commit_now(commit)
    }

    #[instrument(level = "trace", skip_all)]
    async fn register(&self, id: &EntryId, attempt: &OpId) -> Result<Registered> {
        Ok(self.entities.step_on_entry(id, |entry| match entry {
            None => Registered::Gone,
            Some(entry) if entry.chosen.is_some() => Registered::Chosen(entry.clone()),
            Some(entry) => {
                if !entry.attempts.contains(attempt) {
                    entry.attempts.push(attempt.clone());
                }
                Registered::Registered
            }
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn choose(&self, id: &EntryId, attempt: &OpId) -> Result<Chosen> {
        Ok(self.entities.step_on_entry(id, |entry| match entry {
            Some(entry) if entry.attempts.contains(attempt) => {
                entry.chosen.get_or_insert_with(|| attempt.clone());
                Chosen::Chosen(entry.clone())
            }
            Some(_) | None => Chosen::Gone,
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn remove(&self, id: &EntryId) -> Result<bool> {
        Ok(self.entities.step(&id.key, |entity, now| {
            let is_there =
                |entity: &&mut Entity| entity.outbox.get(&id.message).is_some_and(|entry| is_named(entry, id));
            let Some(entity) = entity.filter(is_there) else { return false };
            entity.since = now;
            entity.outbox.remove(&id.message).is_some()
        }))
    }

    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>> {
        let (mut stripe, after) = position(cursor, limit).map_err(|error| error.on("memory"))?;
        let mut after = after.map(|after| Position::parse(&after)).transpose()?;
        let mut entries = vec![];
        while stripe < STRIPES && entries.len() < limit {
            let left = limit - entries.len();
            let found = pending_of(&self.entities.entities.lock(stripe), after.as_ref(), left);
            after = (found.len() == left).then(|| found.last().map(Position::of)).flatten();
            entries.extend(found);
            stripe += usize::from(after.is_none());
        }
        let at = after.map(|after| after.show()).unwrap_or_default();
        let next = (stripe < STRIPES).then(|| Cursor::new(format!("{stripe}:{at}")));
        Ok(Page { entries, next })
    }

    fn joins(&self) -> Joins {
        self.joins.clone()
    }
}

/// The last entry on the previous page of a listing.
struct Position {
    key: Key,
    message: MessageId,
}

impl Position {
    fn of(entry: &EntryId) -> Self {
        Self { key: entry.key.clone(), message: entry.message.clone() }
    }

    fn parse(text: &str) -> Result<Self> {
        let (length, rest) = text.split_once(':').ok_or_else(not_ours)?;
        let length: usize = length.parse().map_err(|_| not_ours())?;
        let (key, message) = rest.split_at_checked(length).ok_or_else(not_ours)?;
        Ok(Self { key: Key::new(key)?, message: MessageId::new(message)? })
    }

    fn show(&self) -> String {
        format!("{}:{}{}", self.key.as_str().len(), self.key, self.message)
    }
}

fn pending_of(entities: &BTreeMap<Key, Entity>, after: Option<&Position>, limit: usize) -> Vec<EntryId> {
    let is_next = |entry: &EntryId| match after {
        Some(after) => (&entry.key, &entry.message) > (&after.key, &after.message),
        None => true,
    };
    let from = after.map_or(Unbounded, |after| Included(after.key.as_str()));
    let all = entities.range::<str, _>((from, Unbounded)).flat_map(|(key, entity)| {
        entity.outbox.iter().filter_map(|(message, entry)| {
            let commit = entry.attempts.first()?.clone();
            Some(EntryId { key: key.clone(), message: message.clone(), commit })
        })
    });
    all.filter(is_next).take(limit).collect()
}
