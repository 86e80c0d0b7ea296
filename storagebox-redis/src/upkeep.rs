//! Upkeep: handles one namespace after another, in bounded steps.

use storagebox_core::{ErrorKind, Maintained, Result};

use crate::client::{Client, Kind, ScriptCall, kind_of};
use crate::repair;
use crate::script::{Script, script};
use crate::{counter, dedup_repo, entity_ledger, item_bank, ordered_store, token_store};

static NAMESPACES: Script = script!("store_namespaces", READS, [], "store/namespaces").asking_for_all();

/// The most entries that one script examines, because a script blocks all other calls.
pub(crate) const STEP: usize = 100;

/// Deletes at most `most` entries that no promise needs. A corrupt namespace does not stop the upkeep of the other
/// namespaces.
pub(crate) async fn maintain(client: &Client, most: usize) -> Result<Maintained> {
    let mut deleted = 0;
    match all(client, most, &mut deleted).await {
        Ok(()) => Ok(Maintained { deleted: deleted as u64, more: deleted == most }),
        Err(error) if deleted > 0 => Err(error.after_unresolved()),
        Err(error) => Err(error),
    }
}

/// Runs the upkeep of each namespace until `most` entries are deleted, counted in `deleted`.
async fn all(client: &Client, most: usize, deleted: &mut usize) -> Result<()> {
    let (mut cursor, mut corrupt) = ("0".to_owned(), None);
    while *deleted < most {
        let call = ScriptCall::new(&NAMESPACES, client.store()).with(cursor.as_str());
        let answer = client.enter("maintain", &call).await?;
        for at in answer.entries_after(4, 1) {
            match one(client, answer.text(at)?, most, deleted).await {
                Err(error) if error.kind() == ErrorKind::Corrupt => drop(corrupt.get_or_insert(error)),
                done => done?,
            }
        }
        cursor = answer.text(3)?.to_owned();
        if cursor == "0" {
            break;
        }
    }
    corrupt.map_or(Ok(()), Err)
}

/// Runs the upkeep of the namespace with this tag. Skips a namespace of an unknown kind.
async fn one(client: &Client, tag: &str, most: usize, deleted: &mut usize) -> Result<()> {
    let key = client.settings().prefix.of(tag);
    let memory = client.memory();
    if let Some(kind) = kind_of(tag) {
        repair::namespace(client, kind, &key).await.map_err(|error| error.during("maintain"))?;
    }
    let about = |script| ScriptCall::new(script, &key).in_epoch(client.epoch());
    match kind_of(tag) {
        Some(Kind::Bank) => {
            steps(client, most, deleted, |step| about(&item_bank::MAINTAIN).with(step).with(memory)).await
        }
        Some(Kind::Records) => {
            steps(client, most, deleted, |step| about(&dedup_repo::MAINTAIN).with("").with(step).with(memory)).await
        }
        Some(Kind::Tokens) => {
            steps(client, most, deleted, |step| about(&token_store::MAINTAIN).with(step).with(memory)).await
        }
        Some(Kind::Entities) => {
            steps(client, most, deleted, |step| about(&entity_ledger::MAINTAIN).with(step).with(memory)).await
        }
        Some(Kind::Counters) => steps(client, most, deleted, |step| about(&counter::MAINTAIN).with(step)).await,
        Some(Kind::Ordered) => ordered_store::maintain(client, &key, most, deleted).await,
        None => Ok(()),
    }
}

/// Runs steps of upkeep until `most` entries are deleted or a step reports that no work remains.
async fn steps<'a>(
    client: &Client,
    most: usize,
    deleted: &mut usize,
    call: impl Fn(usize) -> ScriptCall<'a>,
) -> Result<()> {
    while *deleted < most {
        let call = call(STEP.min(most - *deleted));
        let answer = client.settle("maintain", || client.answer(&call)).await?;
        *deleted += usize::try_from(answer.count(0)?).unwrap_or(usize::MAX);
        if answer.text(1)? != "more" {
            break;
        }
    }
    Ok(())
}
