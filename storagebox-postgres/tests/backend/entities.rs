//! Entities and their entries, E-1 to E-8: the cases that only this backend has.

mod cursors;
mod joined;
mod kept;
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

/// Returns the entry that the commit of this name adds.
fn entry(name: &str) -> Result<EntryId> {
    Ok(EntryId { key: key()?, message: MessageId::new(name)?, commit: OpId::new(name)? })
}

fn split(store: &dyn Backend) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&"entities".parse()?, &Joins::default())
}

/// Returns entities that join one token namespace for incoming and outgoing messages, and its tokens.
fn joined(store: &dyn Backend) -> Result<(Arc<dyn EntityLedger>, Arc<dyn TokenStore>)> {
    let joins = Joins { incoming: Some("tokens".parse()?), outgoing: Some("tokens".parse()?) };
    Ok((store.entity_ledger(&"entities".parse()?, &joins)?, store.token_store(&"tokens".parse()?)?))
}

/// Returns a commit of a message that puts its own name, against this version.
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

/// Returns the same commit against the current version.
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

/// The calls are refused before anything is sent: no server listens at this address.
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
