//! Entities and their entries: commits, refused calls, and how long a deleted entity is remembered.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Commit, Committed, Cursor, EntityChange, EntityLedger, EntryId, ErrorKind, Joins, Key, Maintained,
    Payload, Result, TokenId, TokenStore, Version,
};

use super::id;

/// Returns the key of the entity that most commits change.
pub fn key() -> Key {
    id("entity")
}

/// Returns the entry that the commit of this name adds.
pub fn entry(name: &str) -> EntryId {
    EntryId { key: key(), message: id(name), commit: id(name) }
}

/// Returns entities that join no tokens.
pub fn split(store: &dyn Backend) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&id("entities"), &Joins::default())
}

/// Returns entities that join one token namespace for incoming and outgoing messages, and its tokens.
pub fn joined(store: &dyn Backend) -> Result<(Arc<dyn EntityLedger>, Arc<dyn TokenStore>)> {
    let joins = Joins { incoming: Some(id("tokens")), outgoing: Some(id("tokens")) };
    Ok((store.entity_ledger(&id("entities"), &joins)?, store.token_store(&id("tokens"))?))
}

/// Returns a commit of the message `name` based on the version `opened`. The commit sets the state to `name`.
pub fn commit_at(opened: Option<Version>, name: &str) -> Commit {
    let EntryId { key, message, commit } = entry(name);
    let change = EntityChange::Put(Payload::try_from(name).expect("a short value"));
    let entry = Some(Payload::try_from("content").expect("a short value"));
    Commit { key, message, opened, change, attempt: commit, entry, consume: None, create: vec![] }
}

/// Returns a commit of the message `name` based on the current version. The commit sets the state to `name`.
pub async fn commit_of(entities: &dyn EntityLedger, name: &str) -> Result<Commit> {
    Ok(commit_at(version(entities, name).await?, name))
}

/// Returns the current version of the entity.
pub async fn version(entities: &dyn EntityLedger, message: &str) -> Result<Option<Version>> {
    Ok(entities.open(&key(), &id(message), None).await?.version)
}

/// Makes the commit, which must succeed.
pub async fn committed(entities: &dyn EntityLedger, commit: &Commit) -> Result<()> {
    assert_eq!(entities.commit(commit).await?, Committed::Committed, "{commit:?}");
    Ok(())
}

/// Changes a new entity, and removes its entry if `over` is true. Returns the entry.
pub async fn changed(entities: &dyn EntityLedger, name: &str, change: EntityChange, over: bool) -> Result<EntryId> {
    let (entry, commit) = (EntryId { key: id(name), ..entry(name) }, commit_at(None, name));
    committed(entities, &Commit { key: id(name), change, ..commit }).await?;
    if over {
        assert!(entities.remove(&entry).await?, "{entry:?} is not there");
    }
    Ok(entry)
}

/// Makes one commit per count, which creates that many tokens. Checks that a repeated commit succeeds and that the
/// tokens exist.
pub async fn creates_tokens(store: &dyn Backend, counts: &[usize]) -> Result<()> {
    let (entities, tokens) = joined(store)?;
    for count in counts {
        let consume = Some(id::<TokenId>(&format!("in-{count}")));
        tokens.create_tokens(consume.as_slice()).await?;
        // Some sort before the consumed token, and some after it.
        let name = |number: usize| id(&format!("{}-{count}-{number}", ["a", "in", "z"][number % 3]));
        let commit = commit_of(&*entities, &count.to_string()).await?;
        let commit = Commit { create: (0..*count).map(name).collect(), consume, ..commit };
        for _ in 0..2 {
            committed(&*entities, &commit).await?;
        }
        assert!(!tokens.exists(commit.consume.as_ref().expect("a token")).await?);
        assert_eq!(tokens.create_tokens(&commit.create).await?.already_live, *count as u64);
    }
    Ok(())
}

/// Cursors that no listing returns. A listing returns cursors of the form `after:<length>:<text>`.
pub const CURSORS: [&str; 8] =
    ["", "3:x", "after:", "after:x", "after:9:key", "after:1:é", "after:-1:key", "after:10:keymessage"];

/// Checks that a store refuses invalid commits and these invalid cursors. The caller must check that no request was
/// sent.
pub async fn refuses_before_it_asks(store: &dyn Backend, cursors: &[&str]) -> Result<()> {
    let ((joined, _), split, commit) = (joined(store)?, split(store)?, commit_at(None, "a"));
    let token: TokenId = id("token");
    let consumes = Commit { consume: Some(token.clone()), ..commit.clone() };
    let creates = Commit { create: vec![token.clone()], ..commit.clone() };
    let nothing = Commit { entry: None, ..commit };
    let unsent = Commit { entry: None, ..creates.clone() };
    let is_refused = |answer: Result<()>| assert_eq!(answer.unwrap_err().kind(), ErrorKind::InvalidInput);
    for (entities, refused) in [(&split, &consumes), (&split, &creates), (&joined, &nothing), (&joined, &unsent)] {
        is_refused(entities.commit(refused).await.map(drop));
    }
    is_refused(split.open(&key(), &id("a"), Some(&token)).await.map(drop));
    is_refused(split.pending(None, 0).await.map(drop));
    for cursor in cursors {
        is_refused(split.pending(Some(&Cursor::new(*cursor)), 1).await.map(drop));
    }
    Ok(())
}

/// Checks that a deleted entity is forgotten once `memory` has passed since its deletion and since the removal of its
/// last entry, and that entities with a state or an entry stay.
pub async fn are_forgotten(
    store: &dyn Backend,
    memory: Duration,
    advance: impl AsyncFn(Duration) -> Result<()>,
) -> Result<()> {
    let entities = split(store)?;
    let is_known = async |entry: &EntryId| {
        store.maintain(100).await?;
        Ok::<_, storagebox_core::Error>(entities.open(&entry.key, &id("look"), None).await?.version.is_some())
    };
    let stored = changed(&*entities, "stored", EntityChange::Put("state".try_into()?), true).await?;
    let pending = changed(&*entities, "pending", EntityChange::Delete, false).await?;
    let over = changed(&*entities, "over", EntityChange::Delete, true).await?;
    advance(memory / 2).await?;
    assert!(is_known(&over).await?, "forgotten too early");
    advance(memory).await?;
    assert!(!is_known(&over).await?, "remembered too long");
    assert!(is_known(&stored).await? && is_known(&pending).await?);
    assert!(entities.remove(&pending).await?);
    advance(memory / 2).await?;
    assert!(is_known(&pending).await?, "forgotten too early after the removal of its entry");
    advance(memory / 2).await?;
    assert!(!is_known(&pending).await?, "remembered too long after the removal of its entry");
    assert!(entities.open(&stored.key, &stored.message, None).await?.state.is_some());
    Ok(())
}

/// Checks that one call of `maintain` forgets at most the given number of entities.
pub async fn are_forgotten_in_budgets(store: &dyn Backend, advance: impl AsyncFnOnce() -> Result<()>) -> Result<()> {
    let entities = split(store)?;
    for number in 0..7 {
        changed(&*entities, &format!("{number}"), EntityChange::Delete, true).await?;
    }
    advance().await?;
    for (deleted, more) in [(3, true), (3, true), (1, false), (0, false)] {
        assert_eq!(store.maintain(3).await?, Maintained { deleted, more });
    }
    Ok(())
}

/// Checks that a store with an unlimited memory forgets no entity.
pub async fn are_never_forgotten(store: &dyn Backend, advance: impl AsyncFnOnce() -> Result<()>) -> Result<()> {
    let entities = split(store)?;
    let entry = changed(&*entities, "deleted", EntityChange::Delete, true).await?;
    let version = entities.open(&entry.key, &entry.message, None).await?.version;
    advance().await?;
    assert_eq!(store.maintain(10).await?.deleted, 0);
    assert!(version.is_some() && entities.open(&entry.key, &entry.message, None).await?.version == version);
    Ok(())
}
