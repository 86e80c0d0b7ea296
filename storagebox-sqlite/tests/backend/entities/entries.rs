//! Entries: their attempts, their end, and their listing.

use std::collections::BTreeSet;

use storagebox_core::{
    Chosen, Commit, Cursor, EntityLedger, EntryId, ErrorKind, Key, MessageId, OpId, Registered, Result,
};

use super::{commit_of, committed, entry, key, message, op, split};
use crate::support::Place;

#[tokio::test]
async fn an_attempt_is_chosen_once_and_none_is_registered_after_that() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    committed(&*entities, &commit_of(&*entities, "a").await?).await?;
    let a = entry("a");
    for attempt in ["second \"\\", "third", "second \"\\", "a"] {
        assert_eq!(entities.register(&a, &op(attempt)).await?, Registered::Registered);
    }
    assert_eq!(entities.choose(&a, &op("unknown")).await?, Chosen::Gone);
    let attempts = vec![op("a"), op("second \"\\"), op("third")];
    for attempt in ["third", "second \"\\", "a"] {
        let Chosen::Chosen(entry) = entities.choose(&a, &op(attempt)).await? else { panic!("no entry") };
        assert_eq!((entry.chosen, &entry.attempts), (Some(op("third")), &attempts));
    }
    let late = entities.register(&a, &op("late")).await?;
    assert!(matches!(late, Registered::Chosen(entry) if entry.attempts == attempts));
    let opened = entities.open(&key(), &a.message, None).await?;
    assert_eq!(opened.entry.unwrap().attempts, attempts);
    assert!(entities.remove(&a).await?);
    assert!(!entities.remove(&a).await?);
    let removed = entities.open(&key(), &a.message, None).await?;
    assert_eq!((removed.version, removed.entry), (opened.version, None), "removing changes no version");
    assert_eq!(entities.register(&a, &op("late")).await?, Registered::Gone);
    assert_eq!(entities.choose(&a, &op("third")).await?, Chosen::Gone);
    Ok(())
}

/// What lands late from an earlier processing of the message finds an entry that is not its own.
#[tokio::test]
async fn an_entry_is_not_taken_for_an_earlier_one_of_the_same_message() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    committed(&*entities, &commit_of(&*entities, "a").await?).await?;
    assert!(entities.remove(&entry("a")).await?);
    let again = Commit { attempt: op("again"), ..commit_of(&*entities, "a").await? };
    committed(&*entities, &again).await?;

    assert_eq!(entities.register(&entry("a"), &op("late")).await?, Registered::Gone);
    assert_eq!(entities.choose(&entry("a"), &op("a")).await?, Chosen::Gone);
    assert!(!entities.remove(&entry("a")).await?);
    let opened = entities.open(&key(), &message("a"), None).await?;
    assert_eq!(opened.entry.unwrap().attempts, [op("again")]);
    Ok(())
}

async fn listed(entities: &dyn EntityLedger, limit: usize) -> Result<Vec<EntryId>> {
    let (mut listed, mut cursor) = (vec![], None);
    loop {
        let page = entities.pending(cursor.as_ref(), limit).await?;
        assert!(page.entries.len() <= limit);
        listed.extend(page.entries);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(listed);
        }
    }
}

/// An entry of a message of one entity of many.
async fn add(entities: &dyn EntityLedger, key: &str, name: &str) -> Result<EntryId> {
    let key: Key = key.parse()?;
    let opened = entities.open(&key, &message(name), None).await?.version;
    let commit = Commit { key: key.clone(), opened, ..commit_of(entities, name).await? };
    committed(entities, &commit).await?;
    Ok(EntryId { key, message: commit.message, commit: commit.attempt })
}

#[tokio::test]
async fn every_entry_is_listed_once_in_pages_of_any_size() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    let mut expected = BTreeSet::new();
    for number in 0..60 {
        expected.insert(add(&*entities, &format!("{}:é", number / 3), &format!("{number}:x")).await?);
    }
    // What the whole is made of does not say where one ends and the other begins.
    for (key, name) in [("k", "ey"), ("ke", "y"), ("k\u{10ffff}", "e"), ("1:", "2:")] {
        expected.insert(add(&*entities, key, name).await?);
    }
    for limit in [1, 2, 3, 7, 63, 64, 1_000] {
        let listed = listed(&*entities, limit).await?;
        assert_eq!(listed.len(), expected.len(), "pages of {limit}");
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected);
    }
    Ok(())
}

#[tokio::test]
async fn an_entry_that_is_there_all_the_time_is_listed_once_while_others_come_and_go() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    let (mut stay, mut go) = (BTreeSet::new(), vec![]);
    for number in 0..20 {
        stay.insert(add(&*entities, &format!("{number:02}"), "stays").await?);
        go.push(add(&*entities, &format!("{number:02}"), "goes").await?);
    }
    let (mut listed, mut cursor) = (vec![], None);
    for round in 0.. {
        let page = entities.pending(cursor.as_ref(), 3).await?;
        listed.extend(page.entries);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        add(&*entities, &format!("{:02}", 19 - round % 20), &format!("comes-{round}")).await?;
        if let Some(gone) = go.pop() {
            assert!(entities.remove(&gone).await?);
        }
    }
    let stayed: Vec<_> = listed.iter().filter(|entry| entry.message == message("stays")).cloned().collect();
    assert_eq!(stayed.len(), 20, "{listed:?}");
    assert_eq!(stayed.into_iter().collect::<BTreeSet<_>>(), stay);
    Ok(())
}

#[tokio::test]
async fn what_is_no_page_of_a_listing_is_refused() -> Result<()> {
    // There is no file: it is refused before anybody looks.
    let place = Place::bare()?;
    let entities = split(&place.store()?)?;
    let refused = |answer: Result<_>| assert_eq!(answer.unwrap_err().kind(), ErrorKind::InvalidInput);
    refused(entities.pending(None, 0).await.map(drop));
    for cursor in ["", "3:x", "after:", "after:key", "after:9:key", "after:3:key", "after:1:é", "after:-1:key"] {
        refused(entities.pending(Some(&Cursor::new(cursor)), 1).await.map(drop));
    }
    Ok(())
}

/// The longest names, and those that mean something elsewhere.
#[tokio::test]
async fn every_name_is_kept_byte_for_byte() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    let long = ["\u{10ffff}".repeat(128), "'".repeat(512), "\"".repeat(512)];
    let mut expected = vec![];
    for name in ["'; --", "[\"", "\\u0041", "%_", "\u{feff}", "NULL"].into_iter().chain(long.iter().map(|x| &**x)) {
        let (key, message, attempt): (Key, MessageId, OpId) = (name.parse()?, name.parse()?, name.parse()?);
        let commit = Commit { key: key.clone(), message, attempt, ..commit_of(&*entities, "a").await? };
        committed(&*entities, &commit).await?;
        let id = EntryId { key, message: commit.message, commit: commit.attempt };
        let more = OpId::new(name.replacen(char::is_alphanumeric, "x", 1).replacen('\'', "x", 1))?;
        assert_eq!(entities.register(&id, &more).await?, Registered::Registered);
        let Chosen::Chosen(entry) = entities.choose(&id, &more).await? else { panic!("no entry") };
        assert_eq!((entry.chosen.as_ref(), entry.attempts.first()), (Some(&more), Some(&id.commit)));
        expected.push(id);
    }
    expected.sort();
    assert_eq!(listed(&*entities, 2).await?, expected);
    Ok(())
}
