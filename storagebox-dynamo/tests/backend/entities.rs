//! Entities and their entries (E-1 to E-8): the behaviour that is specific to this backend.

mod forgotten;
mod lost;
mod processor;
mod refused;
mod sizes;

use std::sync::Arc;

use storagebox_core::{
    Backend, Commit, EntityChange, EntityLedger, EntryId, Joins, Key, MessageId, OpId, Payload, Result, TokenId,
    TokenStore,
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

/// Returns the id of the entry that the commit of this name adds.
fn entry(name: &str) -> EntryId {
    EntryId { key: key(), message: message(name), commit: op(name) }
}

fn split(store: &dyn Backend) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&"entities".parse()?, &Joins::default())
}

fn joined(store: &dyn Backend) -> Result<(Arc<dyn EntityLedger>, Arc<dyn TokenStore>)> {
    let name = "tokens".parse()?;
    let joins = Joins { incoming: Some("tokens".parse()?), outgoing: Some("tokens".parse()?) };
    Ok((store.entity_ledger(&"entities".parse()?, &joins)?, store.token_store(&name)?))
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

/// Returns the same commit, which also consumes one token and creates two.
async fn exchange_of(entities: &dyn EntityLedger, name: &str) -> Result<Commit> {
    let create = vec![token(&format!("{name}-0")), token(&format!("{name}-1"))];
    Ok(Commit { consume: Some(token("in")), create, ..commit_of(entities, name).await? })
}
