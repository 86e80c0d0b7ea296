//! The calls of an entity ledger, each with a separate entity.

use std::sync::Arc;

use storagebox_core::{
    Backend, Commit, EntityChange, EntityLedger, EntryId, Joins, Key, MessageId, OpId, Opened, Payload, Result,
};

use crate::failure::{Failure, Verdict};

pub(super) const CALLS: &[&str] = &["commit", "register", "choose", "remove"];

fn entities_of(store: &dyn Backend) -> Result<Arc<dyn EntityLedger>> {
    store.entity_ledger(&"steps".parse()?, &Joins::default())
}

async fn opened(entities: &dyn EntityLedger, call: &str) -> Result<Opened> {
    entities.open(&Key::new(call)?, &MessageId::new("message")?, None).await
}

async fn commit(entities: &dyn EntityLedger, call: &str) -> Verdict {
    let commit = Commit {
        key: Key::new(call)?,
        message: MessageId::new("message")?,
        opened: opened(entities, call).await?.version,
        change: EntityChange::Put(Payload::try_from("state")?),
        attempt: OpId::new("first")?,
        entry: Some(Payload::try_from("entry")?),
        consume: None,
        create: vec![],
    };
    let _ = entities.commit(&commit).await?;
    Ok(())
}

fn entry(call: &str) -> Result<EntryId> {
    Ok(EntryId { key: Key::new(call)?, message: MessageId::new("message")?, commit: OpId::new("first")? })
}

pub(super) async fn prepare(store: &dyn Backend, call: &str) -> Verdict {
    match call {
        "commit" => Ok(()),
        _ => commit(&*entities_of(store)?, call).await,
    }
}

pub(super) async fn make(store: &dyn Backend, call: &str) -> Verdict {
    let (entities, entry) = (entities_of(store)?, entry(call)?);
    match call {
        "commit" => commit(&*entities, call).await?,
        "register" => drop(entities.register(&entry, &OpId::new("second")?).await?),
        "choose" => drop(entities.choose(&entry, &OpId::new("first")?).await?),
        _ => drop(entities.remove(&entry).await?),
    }
    Ok(())
}

pub(super) async fn is_made(store: &dyn Backend, call: &str) -> Result<bool, Failure> {
    let opened = opened(&*entities_of(store)?, call).await?;
    let (second, entry) = (OpId::new("second")?, opened.entry);
    Ok(match call {
        "commit" => opened.state.is_some() && entry.is_some(),
        "register" => entry.is_some_and(|entry| entry.attempts.contains(&second)),
        "choose" => entry.is_some_and(|entry| entry.chosen.is_some()),
        _ => entry.is_none(),
    })
}
