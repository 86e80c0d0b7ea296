//! Entities and their entries, with a joined token.

use std::time::Duration;

use storagebox_core::{
    Backend, Commit, EntityChange, EntityLedger, EntryId, Joins, Key, MessageId, OpId, Payload, Result, TokenId,
    TokenStore,
};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::{Call, Filling, call};

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

fn entry(message: &str) -> Result<EntryId> {
    Ok(EntryId { key: Key::new("KEY")?, message: MessageId::new(message)?, commit: OpId::new(message)? })
}

fn commit(message: &str) -> Result<Commit> {
    let EntryId { key, message, commit } = entry(message)?;
    let (change, entry) = (EntityChange::Put(Payload::try_from("STATE")?), Some(Payload::try_from("CONTENT")?));
    Ok(Commit { key, message, opened: None, change, attempt: commit, entry, consume: None, create: vec![] })
}

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let (entities, tokens) = (ledger(store, name)?, store.token_store(&format!("tokens of {name}").parse()?)?);
        tokens.create_tokens(&[TokenId::new("TOKEN")?]).await?;
        place.clock.advance(Duration::from_secs(1));
        for message in &MESSAGES[..3] {
            let (commit, id) = (commit(message)?, entry(message)?);
            let opened = entities.open(&id.key, &id.message, None).await?.version;
            let _ = entities.commit(&Commit { opened, ..commit }).await?;
        }
        let _ = entities.register(&entry("OPEN")?, &OpId::new("SECOND")?).await?;
        let _ = entities.choose(&entry("CHOSEN")?, &OpId::new("CHOSEN")?).await?;
        entities.remove(&entry("REMOVED")?).await.map(drop)
    })
}

/// Returns every call for each of the messages. A commit names the present version, or none.
fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let (entities, token) = (ledger(store, name)?, TokenId::new("TOKEN")?);
    let mut calls = vec![call!("pending", [entities], entities.pending(None, 100))];
    for message in MESSAGES {
        let (id, stale, token) = (entry(message)?, commit(message)?, token.clone());
        let (second, third) = (OpId::new("SECOND")?, OpId::new("THIRD")?);
        let joined = Commit { consume: Some(token.clone()), create: vec![TokenId::new("OUT")?], ..stale.clone() };
        calls.extend([
            call!(format!("open {message}"), [entities, id, token], {
                entities.open(&id.key, &id.message, Some(&token))
            }),
            call!(format!("commit {message} to nothing"), [entities, stale], entities.commit(&stale)),
            call!(format!("commit {message}"), [entities, joined], async {
                let opened = entities.open(&joined.key, &MessageId::new("NOBODY")?, None).await?.version;
                entities.commit(&Commit { opened, ..joined }).await
            }),
            call!(format!("register {message}"), [entities, id, third], entities.register(&id, &third)),
            call!(format!("choose {message}"), [entities, id, second], entities.choose(&id, &second)),
            call!(format!("choose {message} as it is"), [entities, id], entities.choose(&id, &id.commit)),
            call!(format!("remove {message}"), [entities, id], entities.remove(&id)),
        ]);
    }
    Ok(calls)
}
