//! Entities whose deletion is forgotten. The suite cannot test this, because it does not know how long a store
//! remembers a deletion.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::collections::BTreeSet;
use std::time::Duration;

use storagebox_core::{
    Backend, Commit, Committed, EntityChange, EntityLedger, EntryId, Joins, ManualClock, Payload, Retention,
};
use storagebox_memory::MemoryStore;

/// Commits a change for a new message and removes the entry of the commit. Returns the entity's new version.
async fn change(entities: &dyn EntityLedger, name: &str, change: EntityChange) -> Option<u64> {
    let (key, message) = ("entity".parse().unwrap(), name.parse().unwrap());
    let opened = entities.open(&key, &message, None).await.unwrap().version;
    let entry = EntryId { key, message, commit: name.parse().unwrap() };
    let commit = Commit {
        key: entry.key.clone(),
        message: entry.message.clone(),
        opened,
        change,
        attempt: entry.commit.clone(),
        entry: Some(Payload::default()),
        consume: None,
        create: vec![],
    };
    assert_eq!(entities.commit(&commit).await.unwrap(), Committed::Committed);
    assert!(entities.remove(&entry).await.unwrap());
    entities.open(&entry.key, &entry.message, None).await.unwrap().version.map(storagebox_core::Version::number)
}

#[tokio::test]
async fn a_version_does_not_repeat_after_its_entity_is_forgotten() {
    let clock = ManualClock::default();
    let store = MemoryStore::builder().clock(clock.clone()).remember(Retention::For(Duration::from_secs(60))).build();
    let (store, mut seen) = (store.unwrap(), BTreeSet::new());
    let entities = store.entity_ledger(&"entities".parse().unwrap(), &Joins::default()).unwrap();
    for round in 0..4 {
        for what in [EntityChange::Put(Payload::default()), EntityChange::Delete] {
            let version = change(&*entities, &format!("{round}-{what:?}"), what).await.unwrap();
            assert!(seen.insert(version), "{version} repeats");
        }
        // Even rounds reach the end of the memory, odd rounds stop one second before it.
        clock.advance(Duration::from_secs(if round % 2 == 0 { 60 } else { 59 }));
        assert_eq!(store.maintain(10).await.unwrap().deleted, u64::from(round % 2 == 0), "round {round}");
    }
}
