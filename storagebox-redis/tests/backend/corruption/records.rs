//! Records and leases, which share their namespace.

use std::time::Duration;

use storagebox_core::{
    Backend as _, Begun, DedupId, DedupRepo as _, Fence, Fingerprint, Lease, LeaseRepo as _, OpId, Payload, Result,
    Retention, Version,
};
use storagebox_redis::RedisStore;

use super::Part;
use super::call::{Call, Filling, call};
use crate::support::{Place, failed};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// Ids in every state, with the number that each was given.
const IDS: [(&str, u64); 10] = [
    ("DONE", 1),
    ("KEPT", 2),
    ("PAST", 3),
    ("FORGOTTEN", 4),
    ("REPLACED", 6),
    ("LEASED", 7),
    ("LAPSED", 8),
    ("ABORTED", 9),
    ("COMPLETED", 11),
    ("NEW", 12),
];

/// Another number or moment, what is forgotten later, any value, any operation and fingerprint, and what is gone
/// without a trace.
const UNNOTICED: &[(&str, &str)] = &[
    ("", "keeps: an unknown mark"),
    ("", "keeps: empty"),
    ("", "keeps: half"),
    ("", "keeps: none"),
    ("", "n: half"),
    ("", "n: none"),
    (":d", "another member"),
    (":d", "no first member"),
    (":e", "field: half"),
    (":e", "field: none"),
    (":g", "first: half"),
    (":r", "b: an unknown mark"),
    (":r", "b: empty"),
    (":r", "b: half"),
    (":r", "b: none"),
    (":r", "m: an unknown mark"),
    (":r", "m: empty"),
    (":r", "m: half"),
    (":r", "m: none"),
    (":r", "o: an unknown mark"),
    (":r", "o: empty"),
    (":r", "o: half"),
    (":r", "p: an unknown mark"),
    (":r", "p: empty"),
    (":r", "p: half"),
    (":r", "p: none"),
    (":r", "u: half"),
    (":r", "v: an unknown mark"),
    (":r", "v: empty"),
    (":r", "v: half"),
    (":x", "no first member"),
];

pub(super) const PART: Part = Part { tag: "r.namespace.0", fill, calls, unnoticed: UNNOTICED };

fn value() -> Result<Payload> {
    Payload::try_from("value")
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
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
        let _ = records.forget(&DedupId::new("FORGOTTEN")?, Version::new(4)).await?;
        let _ = records.replace(&DedupId::new("REPLACED")?, Version::new(5), &value, &op).await?;
        lease(store, name).await?;
        place.moved.advance(2 * MINUTE);
        Ok(())
    })
}

async fn lease(store: &RedisStore, name: &str) -> Result<()> {
    let (leases, op, print) = (store.lease_repo(&name.parse()?)?, OpId::new("OP")?, Fingerprint::new("PRINT")?);
    for (id, duration) in [("LEASED", HOUR), ("LAPSED", MINUTE), ("ABORTED", HOUR), ("COMPLETED", HOUR)] {
        let begun = leases.begin(&DedupId::new(id)?, &op, duration, Some(&print)).await?;
        let Begun::Started(lease) = begun else { return Err(failed(format_args!("{begun:?}"))) };
        match id {
            "ABORTED" => drop(leases.abort(&lease).await?),
            "COMPLETED" => drop(leases.complete(&lease, &value()?, Retention::Forever).await?),
            _ => {}
        }
    }
    Ok(())
}

fn calls(store: &RedisStore, name: &str) -> Result<Vec<Call>> {
    let (records, store_) = (store.dedup_repo(&name.parse()?)?, store.clone());
    let mut calls =
        vec![call!("maintain", [store_], store_.maintain(1_000)), call!("list", [records], records.list(None, 100))];
    for (id, number) in IDS {
        calls.extend(of_records(store, name, (id, number), "OP")?);
        calls.extend(of_leases(store, name, (id, number), "OTHER")?);
    }
    Ok(calls)
}

fn of_records(store: &RedisStore, name: &str, (id, number): (&str, u64), op: &str) -> Result<Vec<Call>> {
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

fn of_leases(store: &RedisStore, name: &str, (id, number): (&str, u64), op: &str) -> Result<Vec<Call>> {
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
