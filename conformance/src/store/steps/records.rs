//! The calls of records and of leases, each with a separate id.

use std::sync::Arc;

use storagebox_core::{
    Aborted, Backend, Begun, DedupId, DedupRepo, Lease, LeaseExtended, LeaseRepo, OpId, Payload, Result, Retention,
};

use super::LONG;
use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};

pub(super) const CALLS: &[&str] = &["record", "replace", "forget", "begin", "extend", "complete", "abort"];

fn records_of(store: &dyn Backend) -> Result<Arc<dyn DedupRepo>> {
    store.dedup_repo(&"steps".parse()?)
}

fn leases_of(store: &dyn Backend) -> Result<Arc<dyn LeaseRepo>> {
    store.lease_repo(&"steps".parse()?)
}

fn value() -> Result<Payload> {
    Payload::try_from("value")
}

fn other() -> Result<Payload> {
    Payload::try_from("other")
}

/// Begins the lease of the id, or returns the lease if it was begun before.
async fn lease(store: &dyn Backend, id: &DedupId) -> Result<Lease, Failure> {
    let begun = leases_of(store)?.begin(id, &OpId::new("op")?, LONG, None).await?;
    Ok(ensure_matches!(begun, Begun::Started(lease) => lease, "beginning"))
}

async fn anothers_begin(leases: &dyn LeaseRepo, id: &DedupId) -> Result<Begun> {
    leases.begin(id, &"other".parse()?, LONG, None).await
}

pub(super) async fn prepare(store: &dyn Backend, call: &str) -> Verdict {
    let id = DedupId::new(call)?;
    match call {
        "replace" | "forget" => {
            let _ = records_of(store)?.record(&id, &value()?, &"op".parse()?, Retention::Forever).await?;
        }
        "extend" | "complete" | "abort" => drop(lease(store, &id).await?),
        _ => {}
    }
    Ok(())
}

pub(super) async fn make(store: &dyn Backend, call: &str) -> Verdict {
    let (records, leases, id) = (records_of(store)?, leases_of(store)?, DedupId::new(call)?);
    let there = records.get(&id).await?.map(|entry| entry.version);
    match (call, there) {
        ("record", _) => drop(records.record(&id, &value()?, &"op".parse()?, Retention::Forever).await?),
        ("replace", Some(version)) => drop(records.replace(&id, version, &other()?, &"other".parse()?).await?),
        ("forget", Some(version)) => drop(records.forget(&id, version).await?),
        ("begin", _) => drop(lease(store, &id).await?),
        ("extend", _) => {
            let extended = leases.extend(&lease(store, &id).await?, LONG * 5).await?;
            ensure_eq!(extended, LeaseExtended::Extended, "extending the lease");
        }
        ("complete", _) => {
            drop(leases.complete(&lease(store, &id).await?, &value()?, Retention::Forever).await?);
        }
        ("abort", _) => {
            let aborted = leases.abort(&lease(store, &id).await?).await?;
            ensure_eq!(aborted, Aborted::Aborted, "aborting the lease");
        }
        _ => return Err(Failure::new(format!("the record for `{call}` does not exist"))),
    }
    Ok(())
}

pub(super) async fn is_made(store: &dyn Backend, call: &str) -> Result<bool, Failure> {
    let (records, leases, id) = (records_of(store)?, leases_of(store)?, DedupId::new(call)?);
    let there = records.get(&id).await?.map(|entry| entry.value);
    Ok(match call {
        "record" | "complete" => there == Some(value()?),
        "replace" => there == Some(other()?),
        "forget" => there.is_none(),
        "begin" => matches!(anothers_begin(&*leases, &id).await?, Begun::InFlight { .. }),
        "extend" => matches!(anothers_begin(&*leases, &id).await?, Begun::InFlight { remaining } if remaining > LONG),
        _ => matches!(anothers_begin(&*leases, &id).await?, Begun::Started(_)),
    })
}
