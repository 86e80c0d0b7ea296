//! What each call answers.

use std::collections::BTreeSet;
use std::time::Duration;

use storagebox_core::{
    Chosen, Commit, Committed, Consumed, Cursor, EntityLedger, EntryId, ErrorKind, Key, Registered, Result, TokenStore,
    Version,
};

use super::{commit_of, entry, exchange_of, joined, key, message, op, payload, split, token};
use crate::scene::with_place;

#[tokio::test]
async fn of_commits_to_one_version_one_is_made() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store().await?)?;
        for (first, second) in [("a", "b"), ("c", "d")] {
            let (first, second) = (commit_of(&*entities, first).await?, commit_of(&*entities, second).await?);
            assert_eq!(entities.commit(&first).await?, Committed::Committed);
            assert_eq!(entities.commit(&second).await?, Committed::Conflict);
            assert_eq!(entities.commit(&first).await?, Committed::Committed, "its own repetition");
        }
        assert_eq!(entities.open(&key(), &message("c"), None).await?.state, Some(payload("c")));
        assert!(entities.open(&key(), &message("d"), None).await?.entry.is_none());
        let another = Commit { attempt: op("another"), ..commit_of(&*entities, "a").await? };
        assert_eq!(entities.commit(&another).await?, Committed::Conflict, "a message that has an entry");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn an_attempt_is_chosen_once_and_none_is_registered_after_that() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store().await?)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        let a = entry("a");
        for attempt in ["second", "third", "second"] {
            assert_eq!(entities.register(&a, &op(attempt)).await?, Registered::Registered);
        }
        assert_eq!(entities.choose(&a, &op("unknown")).await?, Chosen::Gone);
        for attempt in ["third", "second", "a"] {
            let Chosen::Chosen(entry) = entities.choose(&a, &op(attempt)).await? else { panic!("no entry") };
            assert_eq!((entry.chosen, entry.attempts), (Some(op("third")), vec![op("a"), op("second"), op("third")]));
        }
        assert_eq!(entities.choose(&a, &op("unknown")).await?, Chosen::Gone, "after the choice");
        let late = entities.register(&a, &op("late")).await?;
        assert!(matches!(late, Registered::Chosen(entry) if entry.attempts.len() == 3));
        let version = entities.open(&key(), &a.message, None).await?.version;
        assert!(entities.remove(&a).await?);
        assert!(!entities.remove(&a).await?);
        assert_eq!(entities.open(&key(), &a.message, None).await?.version, version, "removing changes no version");
        assert_eq!(entities.register(&a, &op("late")).await?, Registered::Gone);
        assert_eq!(entities.choose(&a, &op("third")).await?, Chosen::Gone);
        Ok(())
    })
    .await
}

/// What lands late from an earlier processing of the message finds an entry that is not its own.
#[tokio::test]
async fn an_entry_is_not_taken_for_an_earlier_one_of_the_same_message() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store().await?)?;
        let _ = entities.commit(&commit_of(&*entities, "a").await?).await?;
        assert!(entities.remove(&entry("a")).await?);
        let again = Commit { attempt: op("again"), ..commit_of(&*entities, "a").await? };
        assert_eq!(entities.commit(&again).await?, Committed::Committed);

        assert_eq!(entities.register(&entry("a"), &op("late")).await?, Registered::Gone);
        assert_eq!(entities.choose(&entry("a"), &op("a")).await?, Chosen::Gone);
        assert!(!entities.remove(&entry("a")).await?);
        assert_eq!(entities.open(&key(), &message("a"), None).await?.entry.unwrap().attempts, [op("again")]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_joined_commit_changes_the_tokens_or_nothing() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store().await?)?;
        tokens.create_tokens(&[token("in"), token("other")]).await?;
        let commit = exchange_of(&*entities, "a").await?;
        let stale = Commit { opened: Some(Version::new(99)), ..commit.clone() };
        assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
        let gone = Commit { consume: Some(token("never created")), ..commit.clone() };
        assert_eq!(entities.commit(&gone).await?, Committed::TokenGone);
        assert!(tokens.exists(&token("in")).await?);
        assert!(!tokens.exists(&token("a-0")).await?);
        assert!(entities.open(&key(), &message("a"), None).await?.version.is_none());

        assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        let opened = entities.open(&key(), &message("a"), Some(&token("in"))).await?;
        assert_eq!((opened.token_is_live, opened.entry.unwrap().chosen), (Some(false), Some(op("a"))));
        assert!(tokens.exists(&token("a-1")).await?);
        assert_eq!(tokens.consume(&token("in"), &op("a")).await?, Consumed::Again);
        place.clock.advance(Duration::from_millis(1));
        assert_eq!(tokens.consume(&token("a-1"), &op("next")).await?, Consumed::Now);
        Ok(())
    })
    .await
}

/// Neither one that lives nor one that is gone, nor the one that is consumed in the same step.
#[tokio::test]
async fn a_new_token_that_is_known_stays_as_it_is() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store().await?)?;
        tokens.create_tokens(&[token("in"), token("live")]).await?;
        tokens.discard(&[token("a-0")]).await?;
        let commit = exchange_of(&*entities, "a").await?;
        let create = [commit.create.clone(), vec![token("live"), token("in"), token("a-1")]].concat();
        assert_eq!(entities.commit(&Commit { create, ..commit }).await?, Committed::Committed);
        for (name, lives) in [("a-0", false), ("a-1", true), ("live", true), ("in", false)] {
            assert_eq!(tokens.exists(&token(name)).await?, lives, "{name}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_commit_without_an_entry_is_known_by_the_token_that_it_consumed() -> Result<()> {
    with_place(async |place| {
        let (entities, tokens) = joined(&place.store().await?)?;
        tokens.create_tokens(&[token("in")]).await?;
        let commit = Commit { entry: None, consume: Some(token("in")), ..commit_of(&*entities, "a").await? };
        for _ in 0..2 {
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        }
        let other = Commit { consume: Some(token("in")), ..commit_of(&*entities, "b").await? };
        assert_eq!(entities.commit(&other).await?, Committed::TokenGone);
        tokens.create_tokens(&[token("next")]).await?;
        let _ = entities.commit(&commit_of(&*entities, "c").await?).await?;
        let finish = Commit { entry: None, consume: Some(token("next")), ..commit_of(&*entities, "c").await? };
        let another = Commit { attempt: op("another"), ..finish.clone() };
        assert_eq!(entities.commit(&another).await?, Committed::Conflict, "a message that has an entry");
        assert_eq!(entities.commit(&finish).await?, Committed::Committed, "its own repetition, by its entry");
        assert!(tokens.exists(&token("next")).await?);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_no_ledger_could_keep_is_refused_before_any_request() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = crate::scene::recorded(&place.table, place.builder()).await?;
        let ((joined, _), split) = (joined(&store)?, split(&store)?);
        let commit = commit_of(&*split, "a").await?;
        faults.taken();
        let consumes = Commit { consume: Some(token("t")), ..commit.clone() };
        let creates = Commit { create: vec![token("t")], ..commit.clone() };
        let nothing = Commit { entry: None, ..commit.clone() };
        let unsent = Commit { entry: None, ..creates.clone() };
        for (entities, refused) in [(&split, &consumes), (&split, &creates), (&joined, &nothing), (&joined, &unsent)] {
            assert_eq!(entities.commit(refused).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        let refused = split.open(&key(), &message("a"), Some(&token("t"))).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        for refused in [split.pending(None, 0).await, split.pending(Some(&Cursor::new("nobody's")), 1).await] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(faults.taken(), [], "requests were sent");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn every_entry_is_listed_once_in_pages_of_any_size() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store().await?)?;
        let mut expected = BTreeSet::new();
        for number in 0..60 {
            let (key, name): (Key, _) = (format!("{}:é", number / 3).parse()?, format!("{number}:x"));
            let opened = entities.open(&key, &message(&name), None).await?.version;
            let commit = Commit { key: key.clone(), opened, ..commit_of(&*entities, &name).await? };
            assert_eq!(entities.commit(&commit).await?, Committed::Committed);
            expected.insert(EntryId { key, message: message(&name), commit: op(&name) });
        }
        let gone = entry("gone");
        let _ = entities.commit(&commit_of(&*entities, "gone").await?).await?;
        assert!(entities.remove(&gone).await?);
        for limit in [1, 2, 7, 59, 60, 1_000] {
            let (mut listed, mut cursor) = (vec![], None);
            loop {
                let page = entities.pending(cursor.as_ref(), limit).await?;
                assert!(page.entries.len() <= limit);
                listed.extend(page.entries);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(listed.len(), expected.len(), "pages of {limit}");
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected);
        }
        Ok(())
    })
    .await
}
