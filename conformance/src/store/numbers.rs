//! Fences and versions. A store gives each number once, whichever process asks, and also after a process has ended.

use storagebox_core::{
    Aborted, Backend, Begun, Commit, Committed, DedupId, DedupRepo, EntityChange, EntityLedger, Forgotten, Joins, Key,
    LeaseRepo, MessageId, OpId, Recorded, Retention,
};

use super::steps;
use crate::failure::{Failure, ensure_eq, ensure_matches};

/// Makes the store issue a new number of this kind (fence or version), and returns the number.
pub(crate) async fn next(store: &dyn Backend, of: &str) -> Result<u64, Failure> {
    match of {
        "fence" => fence(store).await,
        "version" => version(store).await,
        _ => entity(store).await,
    }
}

fn op() -> Result<OpId, Failure> {
    Ok(OpId::new(format!("{:032x}", fastrand::Rng::new().u128(..)))?)
}

async fn fence(store: &dyn Backend) -> Result<u64, Failure> {
    let leases = store.lease_repo(&"numbers".parse()?)?;
    let begun = leases.begin(&DedupId::new("fence")?, &op()?, steps::LONG, None).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning what was aborted");
    ensure_eq!(leases.abort(&lease).await?, Aborted::Aborted, "aborting");
    Ok(lease.fence.number())
}

async fn version(store: &dyn Backend) -> Result<u64, Failure> {
    let (records, id) = (store.dedup_repo(&"numbers".parse()?)?, DedupId::new("version")?);
    let recorded = records.record(&id, &"value".try_into()?, &op()?, Retention::Forever).await?;
    let version = ensure_matches!(recorded, Recorded::New(version) => version, "recording what was forgotten");
    ensure_eq!(records.forget(&id, version).await?, Forgotten::Forgotten, "forgetting");
    Ok(version.number())
}

/// Creates and deletes an entity, and returns the version of the created entity.
async fn entity(store: &dyn Backend) -> Result<u64, Failure> {
    let entities = store.entity_ledger(&"numbers".parse()?, &Joins::default())?;
    let commit = async |change: EntityChange| -> Result<Option<u64>, Failure> {
        let (key, message) = (Key::new("entity")?, MessageId::new(op()?.as_str())?);
        let opened = entities.open(&key, &message, None).await?.version;
        let (attempt, entry) = (op()?, Some("entry".try_into()?));
        let commit = Commit { key, message, opened, change, attempt, entry, consume: None, create: vec![] };
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit alone");
        let opened = entities.open(&commit.key, &commit.message, None).await?.version;
        Ok(opened.map(|version| version.number()))
    };
    let made = commit(EntityChange::Put("state".try_into()?)).await?;
    commit(EntityChange::Delete).await?;
    made.ok_or_else(|| Failure::new("a created entity has no version"))
}
