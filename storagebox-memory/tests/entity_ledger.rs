//! Entities and their entries: E-1 to E-8.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Chosen, Commit, Committed, Consumed, EntityChange, EntityLedger, EntryId, ErrorKind, Joins, Key,
    ManualClock, MessageId, OpId, Payload, Registered, Retention, TokenId, TokenStore,
};
use storagebox_memory::MemoryStore;

fn key() -> Key {
    "entity".parse().unwrap()
}

fn message(name: &str) -> MessageId {
    name.parse().unwrap()
}

fn op(name: &str) -> OpId {
    name.parse().unwrap()
}

fn token(name: &str) -> TokenId {
    name.parse().unwrap()
}

fn payload(text: &str) -> Payload {
    Payload::try_from(text).unwrap()
}

/// The entry that the commit of this name adds.
fn entry(name: &str) -> EntryId {
    EntryId { key: key(), message: message(name), commit: op(name) }
}

fn split(store: &MemoryStore) -> Arc<dyn EntityLedger> {
    store.entity_ledger(&"entities".parse().unwrap(), &Joins::default()).unwrap()
}

fn joined(store: &MemoryStore) -> (Arc<dyn EntityLedger>, Arc<dyn TokenStore>) {
    let name = "tokens".parse().unwrap();
    let joins = Joins { incoming: Some("tokens".parse().unwrap()), outgoing: Some("tokens".parse().unwrap()) };
    let entities = store.entity_ledger(&"entities".parse().unwrap(), &joins).unwrap();
    (entities, store.token_store(&name).unwrap())
}

/// A commit of a message that puts its own name, against what is there.
async fn commit_of(entities: &dyn EntityLedger, name: &str) -> Commit {
    let opened = entities.open(&key(), &message(name), None).await.unwrap();
    Commit {
        key: key(),
        message: message(name),
        opened: opened.version,
        change: EntityChange::Put(payload(name)),
        attempt: op(name),
        entry: Some(payload("content")),
        consume: None,
        create: vec![],
    }
}

#[tokio::test]
async fn of_commits_to_one_version_one_is_made() {
    let entities = split(&MemoryStore::new());
    for (first, second) in [("a", "b"), ("c", "d")] {
        let (first, second) = (commit_of(&*entities, first).await, commit_of(&*entities, second).await);
        assert_eq!(entities.commit(&first).await.unwrap(), Committed::Committed);
        assert_eq!(entities.commit(&second).await.unwrap(), Committed::Conflict);
        assert_eq!(entities.commit(&first).await.unwrap(), Committed::Committed, "its own repetition");
    }
    assert_eq!(entities.open(&key(), &message("c"), None).await.unwrap().state, Some(payload("c")));
    assert!(entities.open(&key(), &message("d"), None).await.unwrap().entry.is_none());
}

#[tokio::test]
async fn an_attempt_is_chosen_once_and_none_is_registered_after_that() {
    let entities = split(&MemoryStore::new());
    let _ = entities.commit(&commit_of(&*entities, "a").await).await.unwrap();
    let a = entry("a");
    for attempt in ["second", "third", "second"] {
        assert_eq!(entities.register(&a, &op(attempt)).await.unwrap(), Registered::Registered);
    }
    assert_eq!(entities.choose(&a, &op("unknown")).await.unwrap(), Chosen::Gone);
    for attempt in ["third", "second", "a"] {
        let Chosen::Chosen(entry) = entities.choose(&a, &op(attempt)).await.unwrap() else { panic!("no entry") };
        assert_eq!((entry.chosen, entry.attempts), (Some(op("third")), vec![op("a"), op("second"), op("third")]));
    }
    let late = entities.register(&a, &op("late")).await.unwrap();
    assert!(matches!(late, Registered::Chosen(entry) if entry.attempts.len() == 3));
    let version = entities.open(&key(), &a.message, None).await.unwrap().version;
    assert!(entities.remove(&a).await.unwrap());
    assert!(!entities.remove(&a).await.unwrap());
    assert_eq!(entities.open(&key(), &a.message, None).await.unwrap().version, version, "removing changes no version");
    assert_eq!(entities.register(&a, &op("late")).await.unwrap(), Registered::Gone);
    assert_eq!(entities.choose(&a, &op("third")).await.unwrap(), Chosen::Gone);
}

/// What lands late from an earlier processing of the message finds an entry that is not its own.
#[tokio::test]
async fn an_entry_is_not_taken_for_an_earlier_one_of_the_same_message() {
    let entities = split(&MemoryStore::new());
    let _ = entities.commit(&commit_of(&*entities, "a").await).await.unwrap();
    assert!(entities.remove(&entry("a")).await.unwrap());
    let again = Commit { attempt: op("again"), ..commit_of(&*entities, "a").await };
    assert_eq!(entities.commit(&again).await.unwrap(), Committed::Committed);

    assert_eq!(entities.register(&entry("a"), &op("late")).await.unwrap(), Registered::Gone);
    assert_eq!(entities.choose(&entry("a"), &op("a")).await.unwrap(), Chosen::Gone);
    assert!(!entities.remove(&entry("a")).await.unwrap());
    let opened = entities.open(&key(), &message("a"), None).await.unwrap();
    assert_eq!(opened.entry.unwrap().attempts, [op("again")]);
}

#[tokio::test]
async fn a_version_does_not_repeat_after_a_deletion() {
    let clock = ManualClock::default();
    let store = MemoryStore::builder().clock(clock.clone()).remember(Retention::For(Duration::from_secs(60))).build();
    let (store, mut seen) = (store.unwrap(), BTreeSet::new());
    let entities = split(&store);
    for round in 0..4 {
        for (name, change) in [("put", EntityChange::Put(payload("x"))), ("delete", EntityChange::Delete)] {
            let name = format!("{name}-{round}");
            let commit = Commit { change, ..commit_of(&*entities, &name).await };
            assert!(round % 2 == 0 || commit.opened.is_none() == (commit.change != EntityChange::Delete));
            assert_eq!(entities.commit(&commit).await.unwrap(), Committed::Committed);
            let opened = entities.open(&key(), &commit.message, None).await.unwrap();
            assert!(seen.insert(opened.version), "{opened:?} repeats");
            assert!(entities.remove(&entry(&name)).await.unwrap());
        }
        // Once within what is remembered, then beyond it.
        clock.advance(Duration::from_secs(if round % 2 == 0 { 60 } else { 59 }));
        let deleted = store.maintain(10).await.unwrap().deleted;
        assert_eq!(deleted, u64::from(round % 2 == 0), "round {round}");
    }
}

#[tokio::test]
async fn a_joined_commit_changes_the_tokens_or_nothing() {
    let store = MemoryStore::new();
    let (entities, tokens) = joined(&store);
    tokens.create_tokens(&[token("in"), token("other")]).await.unwrap();
    let joined = Commit {
        consume: Some(token("in")),
        create: vec![token("out-0"), token("out-1")],
        ..commit_of(&*entities, "a").await
    };
    let stale = Commit { opened: Some(storagebox_core::Version::new(99)), ..joined.clone() };
    assert_eq!(entities.commit(&stale).await.unwrap(), Committed::Conflict);
    let gone = Commit { consume: Some(token("never created")), ..joined.clone() };
    assert_eq!(entities.commit(&gone).await.unwrap(), Committed::TokenGone);
    assert!(tokens.exists(&token("in")).await.unwrap());
    assert!(!tokens.exists(&token("out-0")).await.unwrap());
    assert!(entities.open(&key(), &message("a"), None).await.unwrap().version.is_none());

    assert_eq!(entities.commit(&joined).await.unwrap(), Committed::Committed);
    let opened = entities.open(&key(), &message("a"), Some(&token("in"))).await.unwrap();
    assert_eq!((opened.token_is_live, opened.entry.unwrap().chosen), (Some(false), Some(op("a"))));
    assert!(tokens.exists(&token("out-1")).await.unwrap());
    assert_eq!(tokens.consume(&token("in"), &op("a")).await.unwrap(), Consumed::Again);
}

#[tokio::test]
async fn a_commit_without_an_entry_is_known_by_the_token_that_it_consumed() {
    let (entities, tokens) = joined(&MemoryStore::new());
    tokens.create_tokens(&[token("in")]).await.unwrap();
    let commit = Commit { entry: None, consume: Some(token("in")), ..commit_of(&*entities, "a").await };
    for _ in 0..2 {
        assert_eq!(entities.commit(&commit).await.unwrap(), Committed::Committed);
    }
    let other =
        Commit { attempt: op("other"), ..Commit { consume: Some(token("in")), ..commit_of(&*entities, "a").await } };
    assert_eq!(entities.commit(&other).await.unwrap(), Committed::TokenGone);
}

#[tokio::test]
async fn what_no_ledger_could_keep_is_refused() {
    let store = MemoryStore::new();
    let ((joined, _), split) = (joined(&store), split(&store));
    let commit = commit_of(&*split, "a").await;
    let consumes = Commit { consume: Some(token("t")), ..commit.clone() };
    let creates = Commit { create: vec![token("t")], ..commit.clone() };
    let nothing = Commit { entry: None, ..commit.clone() };
    let unsent = Commit { entry: None, ..creates.clone() };
    for (entities, refused) in [(&split, &consumes), (&split, &creates), (&joined, &nothing), (&joined, &unsent)] {
        assert_eq!(entities.commit(refused).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let refused = split.open(&key(), &message("a"), Some(&token("t"))).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert!(split.open(&key(), &message("a"), None).await.unwrap().version.is_none());
}

#[tokio::test]
async fn every_entry_is_listed_once_in_pages_of_any_size() {
    let entities = split(&MemoryStore::new());
    let mut expected = BTreeSet::new();
    for number in 0..150 {
        let (key, name): (Key, _) = (format!("{}:é", number / 3).parse().unwrap(), format!("{number}:x"));
        let opened = entities.open(&key, &message(&name), None).await.unwrap().version;
        let commit = Commit { key: key.clone(), opened, ..commit_of(&*entities, &name).await };
        assert_eq!(entities.commit(&commit).await.unwrap(), Committed::Committed);
        expected.insert((key, message(&name)));
    }
    for limit in [1, 2, 3, 7, 149, 150, 1_000] {
        let (mut listed, mut cursor) = (vec![], None);
        loop {
            let page = entities.pending(cursor.as_ref(), limit).await.unwrap();
            assert!(page.entries.len() <= limit);
            listed.extend(page.entries.into_iter().map(|entry| (entry.key, entry.message)));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(listed.len(), expected.len(), "pages of {limit}");
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected);
    }
    for refused in [entities.pending(None, 0).await, entities.pending(Some(&cursor("3:x")), 1).await] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

fn cursor(text: &str) -> storagebox_core::Cursor {
    storagebox_core::Cursor::new(text)
}
