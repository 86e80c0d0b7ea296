//! Entities and their entries.

use std::sync::Arc;

use storagebox_core::{
    Backend, Commit, Committed, EntityChange, EntityLedger, EntryId, ErrorKind, Joins, OpId, Payload, Result, TokenId,
};

use super::{Call, call};

/// The keys of entities in four states: with a waiting entry, with a chosen entry, without an entry, and deleted.
const ENTITIES: [&str; 4] = ["WAITING", "SETTLED", "FINISHED", "DELETED"];

/// Returns the entities of the namespace `name`, which join the tokens of the same namespace. Returns `None` if the
/// store has no entities.
fn ledger(store: &dyn Backend, name: &str) -> Result<Option<Arc<dyn EntityLedger>>> {
    let joins = Joins { incoming: Some(name.parse()?), outgoing: Some(name.parse()?) };
    match store.entity_ledger(&name.parse()?, &joins) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        ledger => ledger.map(Some),
    }
}

fn entry(entity: &str) -> Result<EntryId> {
    Ok(EntryId { key: entity.parse()?, message: "MESSAGE".parse()?, commit: "OP".parse()? })
}

async fn commit(entities: &dyn EntityLedger, id: &EntryId, token: Option<&TokenId>) -> Result<Committed> {
    let opened = entities.open(&id.key, &id.message, token).await?.version;
    let change =
        if id.key.as_str() == "DELETED" { EntityChange::Delete } else { EntityChange::Put("state".try_into()?) };
    let (key, message, attempt) = (id.key.clone(), id.message.clone(), id.commit.clone());
    let entry = Some(Payload::try_from("content")?);
    let create = token.map(|_| TokenId::new(format!("OUT OF {key}"))).transpose()?.into_iter().collect();
    let consume = token.cloned();
    entities.commit(&Commit { key, message, opened, change, attempt, entry, consume, create }).await
}

/// Makes entities in every state, if the store has entities.
pub async fn fill(store: &dyn Backend, name: &str) -> Result<()> {
    let Some(entities) = ledger(store, name)? else { return Ok(()) };
    let token = TokenId::new("IN")?;
    store.token_store(&name.parse()?)?.create_tokens(std::slice::from_ref(&token)).await?;
    for entity in ENTITIES {
        let (id, joined) = (entry(entity)?, (entity == "FINISHED").then_some(&token));
        let _ = commit(&*entities, &id, joined).await?;
        let _ = entities.register(&id, &OpId::new("SECOND")?).await?;
        match entity {
            "SETTLED" => drop(entities.choose(&id, &OpId::new("SECOND")?).await?),
            "FINISHED" | "DELETED" => drop(entities.remove(&id).await?),
            _ => {}
        }
    }
    Ok(())
}

/// Returns every call, for each of the entities and for one more.
pub fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let Some(entities) = ledger(store, name)? else { return Ok(vec![]) };
    let mut calls = vec![call!("pending", [entities], entities.pending(None, 100))];
    let token = TokenId::new("IN")?;
    for entity in ENTITIES.into_iter().chain(["NEW"]) {
        let (id, second, third) = (entry(entity)?, OpId::new("SECOND")?, OpId::new("THIRD")?);
        let next = EntryId { message: "NEXT".parse()?, commit: "NEXT".parse()?, ..id.clone() };
        calls.extend([
            call!(
                format!("open {entity} IN"),
                [entities, id, token],
                entities.open(&id.key, &id.message, Some(&token))
            ),
            call!(format!("commit {entity} OP again"), [entities, id], commit(&*entities, &id, None)),
            call!(format!("commit {entity} NEXT"), [entities, next], commit(&*entities, &next, None)),
            call!(format!("commit {entity} IN"), [entities, next, token], commit(&*entities, &next, Some(&token))),
            call!(format!("register {entity} SECOND"), [entities, id, second], entities.register(&id, &second)),
            call!(format!("register {entity} THIRD"), [entities, id, third], entities.register(&id, &third)),
            call!(format!("choose {entity} SECOND"), [entities, id, second], entities.choose(&id, &second)),
            call!(format!("remove {entity}"), [entities, id], entities.remove(&id)),
        ]);
    }
    Ok(calls)
}
