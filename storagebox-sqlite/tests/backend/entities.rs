//! Entities and their entries (E-1 to E-8): the behaviour that is specific to this backend.

mod damage;
mod dropping;
mod large;
mod memory;
mod processor;
mod refused;

use std::sync::Arc;

use storagebox_core::{
    Backend, Commit, Committed, EntityChange, EntityLedger, EntryId, Joins, Key, MessageId, Namespace, OpId, Payload,
    Result, TokenId, TokenStore,
};

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

fn namespace(name: &str) -> Namespace {
    name.parse().unwrap()
}

/// Returns the id of the entry that the commit of this name adds.
fn entry(name: &str) -> EntryId {
    EntryId { key: key(), message: message(name), commit: op(name) }
}

fn split(store: &dyn Backend) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&namespace("entities"), &Joins::default())
}

fn joined(store: &dyn Backend) -> Result<(Arc<dyn EntityLedger>, Arc<dyn TokenStore>)> {
    let joins = Joins { incoming: Some(namespace("tokens")), outgoing: Some(namespace("tokens")) };
    Ok((store.entity_ledger(&namespace("entities"), &joins)?, store.token_store(&namespace("tokens"))?))
}

/// Returns a commit on the present version that puts the message's name as the state.
async fn commit_of(entities: &dyn EntityLedger, name: &str) -> Result<Commit> {
    let opened = entities.open(&key(), &message(name), None).await?;
    Ok(Commit {
        key: key(),
        message: message(name),
        opened: opened.version,
        change: EntityChange::Put(payload(name)),
        attempt: op(name),
        entry: Some(payload("content")),
        consume: None,
        create: vec![],
    })
}

async fn committed(entities: &dyn EntityLedger, commit: &Commit) -> Result<()> {
    assert_eq!(entities.commit(commit).await?, Committed::Committed, "{commit:?}");
    Ok(())
}
