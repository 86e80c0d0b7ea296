//! Entities, alone and with the tokens that their commits change as well.

use std::time::Duration;

use storagebox_core::{
    Backend, Commit, EntityChange, EntityLedger as _, EntryId, Joins, OpId, Payload, Result, TokenId, Version,
};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::tokens::{self, tokens};
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, call};
use storagebox_testkit::checks::entities::commit_at;
use storagebox_testkit::checks::id;

use super::{Part, stands_damage};
use crate::support::Place;

/// Entities with their versions, each in another state. `PAST` is forgotten after its namespace is filled.
const ENTITIES: [(&str, u64); 6] = [("PAST", 1), ("KEPT", 2), ("OPEN", 3), ("CHOSEN", 4), ("RESTING", 5), ("NEW", 0)];

/// A duration longer than half of the store's memory.
const LATER: Duration = Duration::from_secs(4 * 24 * 3_600);

/// Damage to entities that no call notices: another time or content, an entity that is forgotten later, and data that
/// is gone without a trace.
const UNNOTICED: Unnoticed = &[
    ("", "keeps", &["an unknown mark", "empty", "half", "none"]),
    ("", "n", &["none"]),
    (":d", "", &["no first member"]),
    (":m", "c", &["an unknown mark", "empty", "half"]),
    (":m", "x", &["none"]),
    (":s", "t", &["half"]),
    (":s", "v", &["an unknown mark", "empty", "half", "none"]),
    (":x", "", &["no first member"]),
    ("", "sound", &["an unknown mark", "empty", "half", "none"]),
];

pub(super) const PART: Part = Part { tag: "e.namespace.0", fill, calls: alone, unnoticed: UNNOTICED };

/// An entity ledger that joins tokens, with damaged tokens.
pub(super) const JOINED: Part =
    Part { tag: "t.namespace.0", fill: fill_with_tokens, calls: joined, unnoticed: super::tokens::UNNOTICED };

#[tokio::test]
async fn damaged_entities_are_corrupt_and_unchanged() -> Result<()> {
    stands_damage(&PART).await
}

#[tokio::test]
async fn a_commit_with_damaged_tokens_is_corrupt_and_changes_nothing() -> Result<()> {
    stands_damage(&JOINED).await
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let entities = store.entity_ledger(&name.parse()?, &Joins::default())?;
        for (key, _) in &ENTITIES[..5] {
            let is_deleted = ["PAST", "RESTING"].contains(key);
            let change = if is_deleted { EntityChange::Delete } else { EntityChange::Put(Payload::try_from("state")?) };
            let _ = entities.commit(&Commit { change, ..commit(key, None, "COMMIT") }).await?;
            if is_deleted || *key == "KEPT" {
                entities.remove(&entry(key)).await?;
            } else {
                let _ = entities.register(&entry(key), &id("SECOND")).await?;
            }
            if *key == "PAST" {
                place.moved.advance(LATER);
            }
        }
        entities.choose(&entry("CHOSEN"), &id("SECOND")).await.map(drop)
    })
}

fn fill_with_tokens<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        fill(place, store, name).await?;
        tokens::fill(store, name).await
    })
}

fn commit(key: &str, version: Option<u64>, attempt: &str) -> Commit {
    let (message, change) = (id("MESSAGE"), EntityChange::Keep);
    Commit { key: id(key), message, change, ..commit_at(version.map(Version::new), attempt) }
}

fn entry(key: &str) -> EntryId {
    EntryId { key: id(key), message: id("MESSAGE"), commit: id("COMMIT") }
}

/// Returns every call of an entity ledger that joins no tokens, for each of the entities.
fn alone(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let all = store.entity_ledger(&name.parse()?, &Joins::default())?;
    let mut calls = vec![call!("pending", [all], all.pending(None, 100))];
    for (key, version) in ENTITIES {
        let (entry, version) = (entry(key), (version > 0).then_some(version));
        calls.push(call!(format!("open {key}"), [all, entry], all.open(&entry.key, &entry.message, None)));
        for attempt in ["SECOND", "THIRD"] {
            let (about, attempt) = (format!("{attempt} of {key}"), OpId::new(attempt)?);
            calls.extend([
                call!(format!("register {about}"), [all, entry, attempt], all.register(&entry, &attempt)),
                call!(format!("choose {about}"), [all, entry, attempt], all.choose(&entry, &attempt)),
            ]);
        }
        for (about, version, attempt) in [("", version, "OTHER"), (" again", None, "COMMIT"), (" anew", None, "OTHER")]
        {
            let commit = commit(key, version, attempt);
            calls.push(call!(format!("commit {key}{about}"), [all, commit], all.commit(&commit)));
        }
        calls.push(call!(format!("remove {key}"), [all, entry], all.remove(&entry)));
    }
    Ok(calls)
}

/// Returns the calls that use tokens, with tokens in every state.
fn joined(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let joins = Joins { incoming: Some(name.parse()?), outgoing: Some(name.parse()?) };
    let (all, mut calls) = (store.entity_ledger(&name.parse()?, &joins)?, vec![]);
    for token in ["LIVE", "CONSUMED", "DISCARDED", "FENCED", "NEW"] {
        let (entry, its) = (entry("KEPT"), TokenId::new(token)?);
        calls.push(call!(format!("open {token}"), [all, entry, its], all.open(&entry.key, &entry.message, Some(&its))));
        for attempt in ["OP", "OTHER"] {
            let commit = Commit { consume: Some(its.clone()), ..commit("KEPT", Some(2), attempt) };
            let without = Commit { entry: None, change: EntityChange::Delete, ..commit.clone() };
            let create = Commit { create: tokens(&["NEW", "OTHER", "FENCED", "LIVE"])?, ..commit.clone() };
            calls.extend([
                call!(format!("commit {token} by {attempt}"), [all, commit], all.commit(&commit)),
                call!(format!("commit {token} by {attempt}, all"), [all, without], all.commit(&without)),
                call!(format!("commit {token} by {attempt}, more"), [all, create], all.commit(&create)),
            ]);
        }
        let create = Commit { create: vec![its], ..commit("KEPT", Some(2), "OTHER") };
        calls.push(call!(format!("commit, create {token}"), [all, create], all.commit(&create)));
    }
    Ok(calls)
}
