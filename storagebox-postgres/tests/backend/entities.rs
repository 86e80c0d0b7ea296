//! Entities and their entries: E-1 to E-8.

mod joined;
mod kept;
mod listed;
mod processor;
mod races;

use std::sync::Arc;

use storagebox_core::{
    Backend, Chosen, Commit, Committed, EntityChange, EntityLedger, EntryId, ErrorKind, Joins, Key, MessageId, OpId,
    Payload, Registered, Result, TokenId, TokenStore, Version,
};
use storagebox_postgres::{PostgresStore, Statements};

use crate::scene::{LONG, with_place};
use crate::support::Place;

const BOTH: [Statements; 2] = [Statements::Prepared, Statements::Simple];

fn store(place: &Place) -> Result<PostgresStore> {
    place.builder()?.call_timeout(LONG).connect(&place.url_at(place.database.server()))
}

fn key() -> Result<Key> {
    Key::new("entity")
}

/// The entry that the commit of this name adds.
fn entry(name: &str) -> Result<EntryId> {
    Ok(EntryId { key: key()?, message: MessageId::new(name)?, commit: OpId::new(name)? })
}

fn split(store: &dyn Backend) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&"entities".parse()?, &Joins::default())
}

/// Entities whose messages' tokens are in one namespace, whoever sends them.
fn joined(store: &dyn Backend) -> Result<(Arc<dyn EntityLedger>, Arc<dyn TokenStore>)> {
    let joins = Joins { incoming: Some("tokens".parse()?), outgoing: Some("tokens".parse()?) };
    Ok((store.entity_ledger(&"entities".parse()?, &joins)?, store.token_store(&"tokens".parse()?)?))
}

/// A commit of a message that puts its own name, against this version.
fn commit_at(opened: Option<Version>, name: &str) -> Result<Commit> {
    Ok(Commit {
        key: key()?,
        message: MessageId::new(name)?,
        opened,
        change: EntityChange::Put(name.try_into()?),
        attempt: OpId::new(name)?,
        entry: Some("content".try_into()?),
        consume: None,
        create: vec![],
    })
}

/// The same, against what is there.
async fn commit_of(entities: &dyn EntityLedger, name: &str) -> Result<Commit> {
    commit_at(version(entities, name).await?, name)
}

async fn version(entities: &dyn EntityLedger, message: &str) -> Result<Option<Version>> {
    Ok(entities.open(&key()?, &message.try_into()?, None).await?.version)
}

async fn committed(entities: &dyn EntityLedger, commit: &Commit) -> Result<()> {
    assert_eq!(entities.commit(commit).await?, Committed::Committed, "{commit:?}");
    Ok(())
}

#[tokio::test]
async fn of_commits_to_one_version_one_is_made() -> Result<()> {
    with_place(async |place| {
        let entities = split(&store(place)?)?;
        for (first, second) in [("a", "b"), ("c", "d")] {
            let (first, second) = (commit_of(&*entities, first).await?, commit_of(&*entities, second).await?);
            committed(&*entities, &first).await?;
            assert_eq!(entities.commit(&second).await?, Committed::Conflict);
            committed(&*entities, &first).await?;
        }
        let opened = entities.open(&key()?, &"c".try_into()?, None).await?;
        assert_eq!((opened.state, opened.token_is_live), (Some("c".try_into()?), None));
        assert!(entities.open(&key()?, &"d".try_into()?, None).await?.entry.is_none());
        let foreign = commit_at(Some(Version::new(u64::MAX)), "e")?;
        assert_eq!(entities.commit(&foreign).await?, Committed::Conflict, "of a version that no store made");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_attempt_is_chosen_once_and_none_is_registered_after_that() -> Result<()> {
    for statements in BOTH {
        with_place(async |place| {
            let store = place.builder()?.statements(statements).connect(&place.database.url())?;
            is_chosen_once(&*split(&store)?).await
        })
        .await?;
    }
    Ok(())
}

async fn is_chosen_once(entities: &dyn EntityLedger) -> Result<()> {
    committed(entities, &commit_of(entities, "a").await?).await?;
    let (a, [second, third, late]) = (entry("a")?, ["se\"c,o}nd", "NULL", "la\\te"].map(OpId::new));
    let (second, third, late) = (second?, third?, late?);
    for attempt in [&second, &third, &second] {
        assert_eq!(entities.register(&a, attempt).await?, Registered::Registered);
    }
    assert_eq!(entities.choose(&a, &"unknown".try_into()?).await?, Chosen::Gone);
    for attempt in [&third, &second, &a.commit] {
        let Chosen::Chosen(entry) = entities.choose(&a, attempt).await? else { panic!("no entry") };
        assert_eq!(entry.chosen.as_ref(), Some(&third));
        assert_eq!(entry.attempts, [a.commit.clone(), second.clone(), third.clone()]);
    }
    let registered = entities.register(&a, &late).await?;
    assert!(matches!(registered, Registered::Chosen(entry) if entry.attempts.len() == 3));
    let before = version(entities, "a").await?;
    assert!(entities.remove(&a).await?);
    assert!(!entities.remove(&a).await?);
    assert_eq!(version(entities, "a").await?, before, "removing changes no version");
    assert_eq!(entities.register(&a, &late).await?, Registered::Gone);
    assert_eq!(entities.choose(&a, &third).await?, Chosen::Gone);
    Ok(())
}

/// What lands late from an earlier processing of the message finds an entry that is not its own.
#[tokio::test]
async fn an_entry_is_not_taken_for_an_earlier_one_of_the_same_message() -> Result<()> {
    with_place(async |place| {
        let entities = split(&store(place)?)?;
        committed(&*entities, &commit_of(&*entities, "a").await?).await?;
        assert!(entities.remove(&entry("a")?).await?);
        let again = Commit { attempt: OpId::new("again")?, ..commit_of(&*entities, "a").await? };
        committed(&*entities, &again).await?;
        assert_eq!(entities.register(&entry("a")?, &"late".try_into()?).await?, Registered::Gone);
        assert_eq!(entities.choose(&entry("a")?, &"a".try_into()?).await?, Chosen::Gone);
        assert!(!entities.remove(&entry("a")?).await?);
        let opened = entities.open(&key()?, &"a".try_into()?, None).await?;
        assert_eq!(opened.entry.map(|entry| entry.attempts), Some(vec![again.attempt]));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_commit_replaces_no_entry_of_another_commit() -> Result<()> {
    with_place(async |place| {
        let entities = split(&store(place)?)?;
        committed(&*entities, &commit_of(&*entities, "a").await?).await?;
        let another = Commit { attempt: OpId::new("another")?, ..commit_of(&*entities, "a").await? };
        assert_eq!(entities.commit(&another).await?, Committed::Conflict);
        let opened = entities.open(&key()?, &"a".try_into()?, None).await?;
        assert_eq!((opened.version, opened.state), (another.opened, Some("a".try_into()?)));
        assert_eq!(opened.entry.map(|entry| entry.attempts), Some(vec![OpId::new("a")?]));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_commit_changes_no_entry_of_another_message() -> Result<()> {
    with_place(async |place| {
        let entities = split(&store(place)?)?;
        for name in ["a", "b"] {
            committed(&*entities, &commit_of(&*entities, name).await?).await?;
        }
        let kept = Commit { change: EntityChange::Keep, ..commit_of(&*entities, "c").await? };
        committed(&*entities, &kept).await?;
        let deleted = Commit { change: EntityChange::Delete, ..commit_of(&*entities, "d").await? };
        let opened = entities.open(&key()?, &"a".try_into()?, None).await?;
        assert_eq!(opened.state, Some("b".try_into()?), "it was kept");
        committed(&*entities, &deleted).await?;
        for name in ["a", "b", "c", "d"] {
            let opened = entities.open(&key()?, &name.try_into()?, None).await?;
            assert!(opened.version.is_some() && opened.state.is_none(), "{opened:?}");
            assert_eq!(opened.entry.map(|entry| entry.attempts), Some(vec![OpId::new(name)?]));
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_greatest_state_and_content_are_kept_byte_for_byte() -> Result<()> {
    for statements in BOTH {
        with_place(async |place| {
            let entities = split(&place.builder()?.statements(statements).connect(&place.database.url())?)?;
            let bytes: Vec<_> = (0..256 * 1024_usize).map(|byte| byte as u8).collect();
            let (state, content) = (Payload::new(bytes.clone())?, Payload::new(bytes)?);
            let change = EntityChange::Put(state.clone());
            let commit = Commit { change, entry: Some(content.clone()), ..commit_of(&*entities, "a").await? };
            committed(&*entities, &commit).await?;
            let opened = entities.open(&key()?, &"a".try_into()?, None).await?;
            assert!(opened.state == Some(state) && opened.entry.is_some_and(|entry| entry.content == content));
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_longest_texts_are_kept() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&store(place)?)?;
        for text in ["'".repeat(512), "\\".repeat(512), "\u{1f600}".repeat(128)] {
            let token = TokenId::new(&*text)?;
            tokens.create_tokens(std::slice::from_ref(&token)).await?;
            let (key, message, attempt) = (Key::new(&*text)?, MessageId::new(&*text)?, OpId::new(&*text)?);
            let commit = Commit { key, message, attempt, consume: Some(token.clone()), ..commit_at(None, "a")? };
            committed(&*entities, &commit).await?;
            let opened = entities.open(&commit.key, &commit.message, Some(&token)).await?;
            assert_eq!(opened.token_is_live, Some(false));
            let id = EntryId { key: commit.key, message: commit.message, commit: commit.attempt };
            assert_eq!(opened.entry.map(|entry| entry.attempts), Some(vec![id.commit.clone()]));
            assert_eq!(entities.pending(None, 1).await?.entries, std::slice::from_ref(&id));
            assert!(entities.remove(&id).await?);
        }
        Ok(())
    })
    .await
}

/// Before anything is sent: nobody listens there.
#[tokio::test]
async fn what_no_ledger_could_keep_is_refused() -> Result<()> {
    let store = PostgresStore::connect("postgres://ann@127.0.0.1:1/none")?;
    let ((joined, _), split) = (joined(&store)?, split(&store)?);
    let (commit, token) = (commit_at(None, "a")?, TokenId::new("t")?);
    let consumes = Commit { consume: Some(token.clone()), ..commit.clone() };
    let creates = Commit { create: vec![token.clone()], ..commit.clone() };
    let nothing = Commit { entry: None, ..commit.clone() };
    let unsent = Commit { entry: None, ..creates.clone() };
    for (entities, refused) in [(&split, &consumes), (&split, &creates), (&joined, &nothing), (&joined, &unsent)] {
        assert_eq!(entities.commit(refused).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let refused = split.open(&key()?, &"a".try_into()?, Some(&token)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    Ok(())
}
