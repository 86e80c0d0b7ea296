//! Entities, E-1 to E-8: the behaviour that is specific to this backend.

mod costs;
mod cursors;
mod joined;
mod processor;
mod upkeep;

use std::sync::Arc;

use storagebox_core::{
    Backend, Commit, EntityChange, EntityLedger, EntryId, Joins, Key, MessageId, OpId, Payload, Result, TokenId,
    TokenStore,
};
use storagebox_redis::RedisStore;

fn key() -> Result<Key> {
    Key::new("entity")
}

fn message(name: &str) -> Result<MessageId> {
    MessageId::new(name)
}

fn op(name: &str) -> Result<OpId> {
    OpId::new(name)
}

fn token(name: &str) -> Result<TokenId> {
    TokenId::new(name)
}

fn payload(text: &str) -> Result<Payload> {
    Payload::try_from(text)
}

/// Returns the entry that the commit of this name adds.
fn entry(name: &str) -> Result<EntryId> {
    Ok(EntryId { key: key()?, message: message(name)?, commit: op(name)? })
}

fn split(store: &RedisStore) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&"entities".parse()?, &Joins::default())
}

/// Returns a ledger, and the token store that it joins.
fn joined(store: &RedisStore) -> Result<(Arc<dyn EntityLedger>, Arc<dyn TokenStore>)> {
    let joins = Joins { incoming: Some("tokens".parse()?), outgoing: Some("tokens".parse()?) };
    Ok((store.entity_ledger(&"entities".parse()?, &joins)?, store.token_store(&"tokens".parse()?)?))
}

/// Returns a commit of a message that stores the message's name, based on the current version.
async fn commit_of(entities: &dyn EntityLedger, name: &str) -> Result<Commit> {
    let opened = entities.open(&key()?, &message(name)?, None).await?;
    Ok(Commit {
        key: key()?,
        message: message(name)?,
        opened: opened.version,
        change: EntityChange::Put(payload(name)?),
        attempt: op(name)?,
        entry: Some(payload("content")?),
        consume: None,
        create: vec![],
    })
}
