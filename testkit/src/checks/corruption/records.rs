//! Records and leases, which share their namespace.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, DedupId, DedupRepo, Fence, Fingerprint, Lease, LeaseRepo, OpId, Payload, Result, Retention, Version,
};

use super::{Call, call};
use crate::checks::{HOUR, failed};

const MINUTE: Duration = Duration::from_secs(60);

/// The time after which the shorter retention and the shorter lease of a newly filled namespace are over.
pub const PAST: Duration = MINUTE;

/// A lease: its id, its operation, and how long it lasts.
pub type Leased = (&'static str, &'static str, Duration);

/// The leases of every namespace: a lease that lasts, a lease that expires, and leases that are ended.
const LEASES: [Leased; 4] =
    [("LEASED", "OP", HOUR), ("LAPSED", "OP", MINUTE), ("ABORTED", "OP", HOUR), ("COMPLETED", "OP", HOUR)];

/// An operation whose leases are aborted at once.
pub const OVER: &str = "OVER";

/// The version numbers of the records that `fill` forgets and replaces.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The version number of the record that is forgotten.
    pub forgotten: u64,
    /// The version number of the record that is replaced.
    pub replaced: u64,
}

fn value() -> Result<Payload> {
    Payload::try_from("value")
}

/// Makes records and leases in every state.
pub async fn fill(store: &dyn Backend, name: &str, numbers: Numbers) -> Result<()> {
    let (records, op, value) = (store.dedup_repo(&name.parse()?)?, OpId::new("OP")?, value()?);
    for (id, retention) in [
        ("DONE", Retention::Forever),
        ("KEPT", Retention::For(HOUR)),
        ("PAST", Retention::For(MINUTE)),
        ("FORGOTTEN", Retention::Forever),
        ("REPLACED", Retention::Forever),
    ] {
        let _ = records.record(&DedupId::new(id)?, &value, &op, retention).await?;
    }
    let _ = records.forget(&DedupId::new("FORGOTTEN")?, Version::new(numbers.forgotten)).await?;
    let _ = records.replace(&DedupId::new("REPLACED")?, Version::new(numbers.replaced), &value, &op).await?;
    for leased in LEASES {
        lease(store, name, leased).await?;
    }
    Ok(())
}

/// Begins a lease. Aborts the lease of the id `ABORTED` or the operation `OVER`, and completes the lease of the id
/// `COMPLETED`.
pub async fn lease(store: &dyn Backend, name: &str, (id, op, duration): Leased) -> Result<()> {
    let (leases, print) = (store.lease_repo(&name.parse()?)?, Fingerprint::new("PRINT")?);
    let begun = leases.begin(&DedupId::new(id)?, &OpId::new(op)?, duration, Some(&print)).await?;
    let Begun::Started(lease) = begun else { return Err(failed(format_args!("{id} by {op}: {begun:?}"))) };
    match (id, op) {
        ("ABORTED", _) | (_, OVER) => leases.abort(&lease).await.map(drop),
        ("COMPLETED", _) => leases.complete(&lease, &value()?, Retention::Forever).await.map(drop),
        _ => Ok(()),
    }
}

/// Returns every call about the record with this number, by this operation.
pub fn of_records(store: &dyn Backend, name: &str, (id, number): (&str, u64), op: &str) -> Result<Vec<Call>> {
    let (records, value, version) = (store.dedup_repo(&name.parse()?)?, value()?, Version::new(number));
    let (about, id, op) = (format!("{id} by {op}"), DedupId::new(id)?, OpId::new(op)?);
    Ok(vec![
        call!(format!("get {about}"), [records, id], records.get(&id)),
        call!(
            format!("record {about}"),
            [records, id, value, op],
            records.record(&id, &value, &op, Retention::For(HOUR))
        ),
        call!(
            format!("replace {about}"),
            [records, id, version, value, op],
            records.replace(&id, version, &value, &op)
        ),
        call!(format!("forget {about}"), [records, id, version], records.forget(&id, version)),
    ])
}

/// Returns every call about the lease whose id has this number, by this operation.
pub fn of_leases(store: &dyn Backend, name: &str, (id, number): (&str, u64), op: &str) -> Result<Vec<Call>> {
    let (leases, value, print) = (store.lease_repo(&name.parse()?)?, value()?, Fingerprint::new("PRINT")?);
    let about = format!("{id} by {op}");
    // A record that a lease completed has the number after the lease's.
    let fence = Fence::new(if id == "COMPLETED" { number - 1 } else { number });
    let (id, op) = (DedupId::new(id)?, OpId::new(op)?);
    let lease = Lease { id: id.clone(), op: op.clone(), fence };
    Ok(vec![
        call!(format!("begin {about}"), [leases, id, op, print], leases.begin(&id, &op, HOUR, Some(&print))),
        call!(format!("abort {about}"), [leases, lease], leases.abort(&lease)),
        call!(format!("extend {about}"), [leases, lease], leases.extend(&lease, HOUR)),
        call!(
            format!("complete {about}"),
            [leases, lease, value],
            leases.complete(&lease, &value, Retention::For(HOUR))
        ),
    ])
}
