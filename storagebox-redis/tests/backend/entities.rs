//! Entities: E-1 to E-8.

mod costs;
mod joined;
mod pending;
mod processor;
mod races;
mod upkeep;

use std::sync::Arc;

use storagebox_core::{
    Backend, Chosen, Commit, Committed, EntityChange, EntityLedger, EntryId, ErrorKind, Joins, Key, MessageId, OpId,
    Payload, Registered, Result, TokenId, TokenStore,
};
use storagebox_redis::RedisStore;

use crate::scene::with_place;
use crate::support::failed;

fn key() -> Result<Key> {
    Key::new("entity")
}

fn message(name: &str) -> Result<MessageId> {
    MessageId::new(name)
}

fn op(name: &str) -> Result<OpId> {
    OpId::new(name)
}

fn token(name: &str) -> Result<TokenId> {
    TokenId::new(name)
}

fn payload(text: &str) -> Result<Payload> {
    Payload::try_from(text)
}

/// The entry that the commit of this name adds.
fn entry(name: &str) -> Result<EntryId> {
    Ok(EntryId { key: key()?, message: message(name)?, commit: op(name)? })
}

fn split(store: &RedisStore) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&"entities".parse()?, &Joins::default())
}

/// A ledger that joins the tokens that come with it.
fn joined(store: &RedisStore) -> Result<(Arc<dyn EntityLedger>, Arc<dyn TokenStore>)> {
    let joins = Joins { incoming: Some("tokens".parse()?), outgoing: Some("tokens".parse()?) };
    Ok((store.entity_ledger(&"entities".parse()?, &joins)?, store.token_store(&"tokens".parse()?)?))
}

/// A commit of a message that puts its own name, against what is there.
async fn commit_of(entities: &dyn EntityLedger, name: &str) -> Result<Commit> {
    let opened = entities.open(&key()?, &message(name)?, None).await?;
    Ok(Commit {
        key: key()?,
        message: message(name)?,
        opened: opened.version,
        change: EntityChange::Put(payload(name)?),
        attempt: op(name)?,
        entry: Some(payload("content")?),
        consume: None,
        create: vec![],
    })
}

#[tokio::test]
async fn of_commits_to_one_version_one_is_made() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        for (first, second) in [("a", "b"), ("c", "d")] {
            let (first, second) = (commit_of(&*entities, first).await?, commit_of(&*entities, second).await?);
            assert_eq!(entities.commit(&first).await?, Committed::Committed);
            assert_eq!(entities.commit(&second).await?, Committed::Conflict);
            assert_eq!(entities.commit(&first).await?, Committed::Committed, "its own repetition");
        }
        assert_eq!(entities.open(&key()?, &message("c")?, None).await?.state, Some(payload("c")?));
        assert!(entities.open(&key()?, &message("d")?, None).await?.entry.is_none());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_attempt_is_chosen_once_and_none_is_registered_after_that() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        let a = entry("a")?;
        for attempt in ["second", "third", "second"] {
            assert_eq!(entities.register(&a, &op(attempt)?).await?, Registered::Registered);
        }
        assert_eq!(entities.choose(&a, &op("unknown")?).await?, Chosen::Gone);
        for attempt in ["third", "second", "a"] {
            let Chosen::Chosen(entry) = entities.choose(&a, &op(attempt)?).await? else {
                return Err(failed("no entry"));
            };
            let expected = (Some(op("third")?), vec![op("a")?, op("second")?, op("third")?]);
            assert_eq!((entry.chosen, entry.attempts), expected);
            assert_eq!(entry.content, payload("content")?);
        }
        let late = entities.register(&a, &op("late")?).await?;
        assert!(matches!(late, Registered::Chosen(entry) if entry.attempts.len() == 3));
        let version = entities.open(&key()?, &a.message, None).await?.version;
        assert!(entities.remove(&a).await?);
        assert!(!entities.remove(&a).await?);
        let removed = entities.open(&key()?, &a.message, None).await?;
        assert_eq!((removed.version, removed.entry), (version, None), "removing changes no version");
        assert_eq!(entities.register(&a, &op("late")?).await?, Registered::Gone);
        assert_eq!(entities.choose(&a, &op("third")?).await?, Chosen::Gone);
        Ok(())
    })
    .await
}

/// What lands late from an earlier processing of the message finds an entry that is not its own.
#[tokio::test]
async fn an_entry_is_not_taken_for_an_earlier_one_of_the_same_message() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        assert!(entities.remove(&entry("a")?).await?);
        let again = Commit { attempt: op("again")?, ..commit_of(&*entities, "a").await? };
        assert_eq!(entities.commit(&again).await?, Committed::Committed);

        assert_eq!(entities.register(&entry("a")?, &op("late")?).await?, Registered::Gone);
        assert_eq!(entities.choose(&entry("a")?, &op("a")?).await?, Chosen::Gone);
        assert!(!entities.remove(&entry("a")?).await?);
        let opened = entities.open(&key()?, &message("a")?, None).await?;
        assert_eq!(opened.entry.map(|entry| entry.attempts), Some(vec![op("again")?]));
        Ok(())
    })
    .await
}

/// Another copy of the message was first, whatever version this one has seen.
#[tokio::test]
async fn a_message_that_has_an_entry_is_not_committed_again() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        let copy = commit_of(&*entities, "a").await?;
        let copy = Commit { attempt: op("copy")?, change: EntityChange::Put(payload("copy")?), ..copy };
        assert_eq!(entities.commit(&copy).await?, Committed::Conflict);
        let opened = entities.open(&key()?, &message("a")?, None).await?;
        assert_eq!((opened.version, opened.state), (copy.opened, Some(payload("a")?)));
        assert_eq!(opened.entry.map(|entry| entry.attempts), Some(vec![op("a")?]));
        Ok(())
    })
    .await
}

/// A state and a content may be empty, and are not taken for none.
#[tokio::test]
async fn the_smallest_and_the_largest_are_kept() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        for (name, size) in [("e", 0), ("l", 256 * 1024), ("e", 0)] {
            let (long, size) = (name.repeat(512), Payload::new(vec![7; size])?);
            let (key, message, attempt) = (Key::new(long.as_str())?, message(&long)?, op(&long)?);
            let opened = entities.open(&key, &message, None).await?.version;
            let (change, entry) = (EntityChange::Put(size.clone()), Some(size.clone()));
            let commit = Commit { key, message, opened, change, attempt, entry, consume: None, create: vec![] };
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
            let opened = entities.open(&commit.key, &commit.message, None).await?;
            assert_eq!((opened.state, opened.entry.map(|entry| entry.content)), (Some(size.clone()), Some(size)));
            let entry = EntryId { key: commit.key, message: commit.message, commit: commit.attempt };
            let Chosen::Chosen(_) = entities.choose(&entry, &entry.commit).await? else {
                return Err(failed("no entry"));
            };
            assert!(entities.remove(&entry).await?);
        }
        Ok(())
    })
    .await
}

/// What is chosen in the entries of two messages, if they are there.
async fn choices(entities: &dyn EntityLedger) -> Result<[Option<Option<OpId>>; 2]> {
    let mut choices = [None, None];
    for (choice, name) in choices.iter_mut().zip(["a", "b"]) {
        *choice = entities.open(&key()?, &message(name)?, None).await?.entry.map(|entry| entry.chosen);
    }
    Ok(choices)
}

/// Of two messages of one entity each has its own entry, and neither changes the other's (E-2).
#[tokio::test]
async fn the_entries_of_one_entity_are_apart() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        for name in ["a", "b"] {
            assert_eq!(entities.commit(&commit_of(&*entities, name).await?).await?, Committed::Committed);
        }
        let _ = entities.register(&entry("a")?, &op("second")?).await?;
        let _ = entities.choose(&entry("b")?, &op("b")?).await?;
        assert_eq!(choices(&*entities).await?, [Some(None), Some(Some(op("b")?))]);
        assert!(entities.remove(&entry("a")?).await?);
        assert_eq!(choices(&*entities).await?, [None, Some(Some(op("b")?))]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_no_ledger_could_keep_is_refused() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let ((joined, _), split) = (joined(&store)?, split(&store)?);
        let commit = commit_of(&*split, "a").await?;
        let consumes = Commit { consume: Some(token("t")?), ..commit.clone() };
        let creates = Commit { create: vec![token("t")?], ..commit.clone() };
        let nothing = Commit { entry: None, ..commit.clone() };
        let unsent = Commit { entry: None, ..creates.clone() };
        for (entities, refused) in [(&split, &consumes), (&split, &creates), (&joined, &nothing), (&joined, &unsent)] {
            assert_eq!(entities.commit(refused).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        let refused = split.open(&key()?, &message("a")?, Some(&token("t")?)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(split.open(&key()?, &message("a")?, None).await?.version.is_none());
        Ok(())
    })
    .await
}
