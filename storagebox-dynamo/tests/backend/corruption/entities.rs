//! Entities and their entries, with a joined token.

use std::time::Duration;

use storagebox_core::{Backend, Commit, EntityLedger, EntryId, Joins, OpId, Result, TokenId, TokenStore};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::{Call, Filling, call};
use storagebox_testkit::checks::{entities, id};

use super::Part;
use crate::support::Place;

/// The messages of an entity with a state. `NEW` has no entry.
const MESSAGES: [&str; 4] = ["OPEN", "CHOSEN", "REMOVED", "NEW"];

pub(super) const PART: Part = Part {
    rows: "entities",
    fill,
    calls,
    unnoticed: &[
        ("entity", "t", &["a number", "empty", "none", "unknown"]),
        ("entity", "v", &["cut off", "none"]),
        ("entity", "z", &["a text", "beyond its range", "no whole number", "none"]),
        ("entries", "g", &["a text", "beyond its range", "no whole number", "none"]),
        ("entries", "m", &["empty", "unknown"]),
        ("entries", "p", &["none"]),
        ("entries", "t", &["a number", "empty", "none", "unknown"]),
        ("entries", "v", &["cut off"]),
        ("entries", "y", &["a text", "beyond its range", "no whole number", "none"]),
    ],
};

fn ledger(store: &dyn Backend, name: &str) -> Result<std::sync::Arc<dyn EntityLedger>> {
    let tokens = || format!("tokens of {name}").parse().map(Some);
    store.entity_ledger(&name.parse()?, &Joins { incoming: tokens()?, outgoing: tokens()? })
}

fn entry(message: &str) -> EntryId {
    EntryId { key: id("KEY"), ..entities::entry(message) }
}

fn commit(message: &str) -> Commit {
    Commit { key: id("KEY"), ..entities::commit_at(None, message) }
}

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let (entities, tokens) = (ledger(store, name)?, store.token_store(&format!("tokens of {name}").parse()?)?);
        tokens.create_tokens(&[id("TOKEN")]).await?;
        place.clock.advance(Duration::from_secs(1));
        for message in &MESSAGES[..3] {
            let (commit, id) = (commit(message), entry(message));
            let opened = entities.open(&id.key, &id.message, None).await?.version;
            let _ = entities.commit(&Commit { opened, ..commit }).await?;
        }
        let _ = entities.register(&entry("OPEN"), &id("SECOND")).await?;
        let _ = entities.choose(&entry("CHOSEN"), &id("CHOSEN")).await?;
        entities.remove(&entry("REMOVED")).await.map(drop)
    })
}

/// Returns every call for each of the messages.
fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let (entities, token) = (ledger(store, name)?, TokenId::new("TOKEN")?);
    let mut calls = vec![call!("pending", [entities], entities.pending(None, 100))];
    for message in MESSAGES {
        let (its, stale, token) = (entry(message), commit(message), token.clone());
        let (second, third): (OpId, OpId) = (id("SECOND"), id("THIRD"));
        let joined = Commit { consume: Some(token.clone()), create: vec![id("OUT")], ..stale.clone() };
        calls.extend([
            call!(format!("open {message}"), [entities, its, token], {
                entities.open(&its.key, &its.message, Some(&token))
            }),
            call!(format!("commit {message} to nothing"), [entities, stale], entities.commit(&stale)),
            call!(format!("commit {message}"), [entities, joined], async {
                let opened = entities.open(&joined.key, &id("NOBODY"), None).await?.version;
                entities.commit(&Commit { opened, ..joined }).await
            }),
            call!(format!("register {message}"), [entities, its, third], entities.register(&its, &third)),
            call!(format!("choose {message}"), [entities, its, second], entities.choose(&its, &second)),
            call!(format!("choose {message} as it is"), [entities, its], entities.choose(&its, &its.commit)),
            call!(format!("remove {message}"), [entities, its], entities.remove(&its)),
        ]);
    }
    Ok(calls)
}
