//! Listings of what is not finished.

use std::collections::BTreeSet;

use storagebox_core::{Commit, Committed, Cursor, EntityLedger, EntryId, ErrorKind, Key, Result};

use super::{commit_of, message, op, split};
use crate::scene::with_place;

/// An entry of this entity and message.
async fn add(entities: &dyn EntityLedger, key: &str, name: &str) -> Result<EntryId> {
    let (key, message) = (Key::new(key)?, message(name)?);
    let opened = entities.open(&key, &message, None).await?.version;
    let commit = Commit { key: key.clone(), opened, ..commit_of(entities, name).await? };
    assert_eq!(entities.commit(&commit).await?, Committed::Committed);
    Ok(EntryId { key, message, commit: commit.attempt })
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

#[tokio::test]
async fn every_entry_is_listed_once_in_pages_of_any_size() -> Result<()> {
    with_place(async |place| {
        let (entities, mut expected) = (split(&place.store()?)?, BTreeSet::new());
        for number in 0..150 {
            expected.insert(add(&*entities, &format!("{}:é", number / 3), &format!("{number}:x")).await?);
        }
        for limit in [1, 2, 3, 7, 149, 150, 1_000] {
            let listed = listed(&*entities, limit).await?;
            assert_eq!(listed.len(), expected.len(), "pages of {limit}");
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected);
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_request_that_makes_no_sense_is_refused() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        for cursor in ["", "3:x", "after:", "after:x", "after:3:key", "after:10:keymessage", "after:-1:keymessage"] {
            let refused = entities.pending(Some(&Cursor::new(cursor)), 1).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{cursor:?}");
        }
        assert_eq!(entities.pending(None, 0).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        Ok(())
    })
    .await
}

/// Keys of which one begins like another, with messages that make up for it.
#[tokio::test]
async fn names_that_look_alike_are_different_entries() -> Result<()> {
    with_place(async |place| {
        let (entities, mut expected) = (split(&place.store()?)?, BTreeSet::new());
        for (key, name) in [("a", "bc"), ("ab", "c"), ("abc", "1"), ("1", "1:abc"), ("1:1", "abc"), ("11", ":1abc")] {
            expected.insert(add(&*entities, key, name).await?);
        }
        assert_eq!(listed(&*entities, 2).await?.into_iter().collect::<BTreeSet<_>>(), expected);
        for entry in &expected {
            assert!(entities.remove(entry).await?, "{entry:?}");
            let opened = entities.open(&entry.key, &entry.message, None).await?;
            assert!(opened.entry.is_none() && opened.state.is_some(), "{entry:?}");
        }
        assert_eq!(listed(&*entities, 2).await?, []);
        Ok(())
    })
    .await
}

/// Those that stay are listed once, whatever comes and goes between the pages.
#[tokio::test]
async fn entries_that_stay_are_listed_while_others_come_and_go() -> Result<()> {
    with_place(async |place| {
        let (entities, mut stay, mut go) = (split(&place.store()?)?, BTreeSet::new(), vec![]);
        for number in 0..40 {
            stay.insert(add(&*entities, &format!("{number}"), "stays").await?);
            go.push(add(&*entities, &format!("{number}"), "goes").await?);
        }
        let (mut found, mut cursor) = (vec![], None);
        for number in 0.. {
            let page = entities.pending(cursor.as_ref(), 3).await?;
            found.extend(page.entries.into_iter().filter(|entry| entry.message.as_str() == "stays"));
            if let Some(gone) = go.pop() {
                assert!(entities.remove(&gone).await?);
            }
            add(&*entities, &format!("{}", number * 7 % 40), &format!("comes {number}")).await?;
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found.len(), 40);
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), stay);
        Ok(())
    })
    .await
}

/// An entry is listed by its commit, whatever was registered later.
#[tokio::test]
async fn an_entry_is_listed_by_its_commit() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        let entry = add(&*entities, "entity", "m").await?;
        for attempt in ["10:", "second"] {
            let _ = entities.register(&entry, &op(attempt)?).await?;
        }
        let _ = entities.choose(&entry, &op("second")?).await?;
        assert_eq!(listed(&*entities, 10).await?, std::slice::from_ref(&entry));
        assert!(entities.remove(&entry).await?);
        Ok(())
    })
    .await
}
