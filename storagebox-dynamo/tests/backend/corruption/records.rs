//! Records and leases, which share their namespace.

use std::time::Duration;

use storagebox_core::{
    Backend as _, Begun, Clock as _, DedupId, Fence, Fingerprint, Lease, ManualClock, OpId, Payload, Result, Retention,
    Version,
};
use storagebox_dynamo::DynamoStore;

use super::call::{Call, Filling, call};
use super::{NAMESPACE, Part};
use crate::support::{Place, failed};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// Ids in every state, with how many numbers each was given after the first.
const IDS: [(&str, u64); 10] = [
    ("DONE", 0),
    ("KEPT", 0),
    ("PAST", 0),
    ("FORGOTTEN", 0),
    ("REPLACED", 1),
    ("LEASED", 0),
    ("LAPSED", 0),
    ("ABORTED", 0),
    ("COMPLETED", 1),
    ("REUSED", 1),
];

/// The first number of every id of a namespace: the time in microseconds when it was filled.
fn first(name: &str) -> u64 {
    let filled = ManualClock::new().now() + if name == NAMESPACE { Duration::ZERO } else { 2 * MINUTE };
    u64::try_from(filled.as_micros()).unwrap_or(u64::MAX)
}

pub(super) const PART: Part = Part {
    rows: "records",
    fill,
    calls,
    unnoticed: &[
        ("ids", "c: unknown"),
        ("ids", "e: none"),
        ("ids", "g: a text"),
        ("ids", "g: beyond its range"),
        ("ids", "g: no whole number"),
        ("ids", "g: none"),
        ("ids", "p: none"),
        ("ids", "p: unknown"),
        ("ids", "r: none"),
        ("ids", "r: unknown"),
        ("ids", "v: cut off"),
        ("ids", "x: none"),
        ("ids", "y: none"),
        ("over", "g: a text"),
        ("over", "g: beyond its range"),
        ("over", "g: no whole number"),
        ("over", "g: none"),
    ],
};

fn value() -> Result<Payload> {
    Payload::try_from("value")
}

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
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
        let _ = records.forget(&DedupId::new("FORGOTTEN")?, Version::new(first(name))).await?;
        let _ = records.replace(&DedupId::new("REPLACED")?, Version::new(first(name)), &value, &op).await?;
        lease(store, name).await?;
        place.clock.advance(2 * MINUTE);
        Ok(())
    })
}

async fn lease(store: &DynamoStore, name: &str) -> Result<()> {
    let (leases, op, print) = (store.lease_repo(&name.parse()?)?, OpId::new("OP")?, Fingerprint::new("PRINT")?);
    let over = OpId::new("OVER")?;
    for (id, op, duration) in [
        ("LEASED", &op, HOUR),
        ("LAPSED", &op, MINUTE),
        ("ABORTED", &op, HOUR),
        ("COMPLETED", &op, HOUR),
        ("REUSED", &over, HOUR),
        ("REUSED", &op, HOUR),
    ] {
        let begun = leases.begin(&DedupId::new(id)?, op, duration, Some(&print)).await?;
        let Begun::Started(lease) = begun else { return Err(failed(format_args!("{begun:?}"))) };
        match id {
            "ABORTED" => drop(leases.abort(&lease).await?),
            "REUSED" if lease.op == over => drop(leases.abort(&lease).await?),
            "COMPLETED" => drop(leases.complete(&lease, &value()?, Retention::Forever).await?),
            _ => {}
        }
    }
    Ok(())
}

fn calls(store: &DynamoStore, name: &str) -> Result<Vec<Call>> {
    let records = store.dedup_repo(&name.parse()?)?;
    let mut calls = vec![call!("list", [records], records.list(None, 100))];
    for (id, more) in IDS {
        let number = first(name) + more;
        calls.extend(of_records(store, name, (id, number), "OP")?);
        calls.extend(of_leases(store, name, (id, number), "OP")?);
    }
    calls.extend(of_records(store, name, ("REUSED", first(name)), "OVER")?);
    calls.extend(of_leases(store, name, ("REUSED", first(name)), "OVER")?);
    Ok(calls)
}

fn of_records(store: &DynamoStore, name: &str, (id, number): (&str, u64), op: &str) -> Result<Vec<Call>> {
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

fn of_leases(store: &DynamoStore, name: &str, (id, number): (&str, u64), op: &str) -> Result<Vec<Call>> {
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
