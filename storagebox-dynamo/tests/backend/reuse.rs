//! One id that is used repeatedly, as by a job that runs every minute.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Aborted, Backend, Begun, DedupId, Lease, LeaseRepo, OpId, Payload, Result, Retention};

use crate::metered::{Cost, Metered};
use crate::scene::with_place;
use crate::support::{Place, failed, longest_row};
use crate::workload::LEASES;

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);
const TIMES: usize = 200;
/// The number of the run from which on the row of the id no longer grows. This run is aborted, like every second run.
const SETTLED: usize = 20;

async fn begun(leases: &dyn LeaseRepo, number: usize) -> Result<Lease> {
    let (id, op) = (DedupId::new("job")?, OpId::new(format!("run-{number}"))?);
    match leases.begin(&id, &op, MINUTE, None).await? {
        Begun::Started(lease) => Ok(lease),
        other => Err(failed(format_args!("run {number}: {other:?}"))),
    }
}

#[test]
fn a_repeatedly_used_id_costs_the_same_each_time() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, place.builder()).await?;
        let leases = metered.store.lease_repo(&"jobs".parse()?)?;
        let (mut costs, mut bytes) = (vec![], vec![]);
        for number in 0..TIMES {
            let lease = metered.note(LEASES, format!("{number}"), begun(&*leases, number)).await?;
            costs.push(metered.cost_of(LEASES, &format!("{number}")));
            match number % 2 {
                0 => drop(leases.abort(&lease).await?),
                _ => drop(leases.complete(&lease, &Payload::default(), Retention::For(SECOND)).await?),
            }
            place.clock.advance(MINUTE);
            if [SETTLED, TIMES - 2].contains(&number) {
                bytes.push(longest_row(place).await?);
            }
        }
        assert_eq!(costs[0], Cost { requests: 2, read: 0.0, write: 2.0 }, "with the namespace");
        assert!(costs[3..].iter().all(|cost| *cost == costs[3]), "{costs:?}");
        // The numbers in the row have more digits later.
        assert!(bytes[1] <= bytes[0] + 16, "{bytes:?}");
        Ok(())
    })
}

/// A run stays ended after an abort and after a completion, however many runs follow.
#[test]
fn every_ended_run_stays_ended() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        let leases = store.lease_repo(&"jobs".parse()?)?;
        let mut runs = vec![];
        for number in 0..6 {
            let lease = begun(&*leases, number).await?;
            match number % 2 {
                0 => drop(leases.abort(&lease).await?),
                _ => drop(leases.complete(&lease, &Payload::default(), Retention::For(SECOND)).await?),
            }
            runs.push(lease);
            place.clock.advance(MINUTE);
        }
        let last = begun(&*leases, 6).await?;
        for Lease { id, op, .. } in &runs {
            assert_eq!(leases.begin(id, op, MINUTE, None).await?, Begun::Fenced, "{op}");
        }
        for lease in &runs {
            assert_eq!(leases.abort(lease).await?, Aborted::Aborted, "{}", lease.op);
        }
        assert_eq!(leases.abort(&last).await?, Aborted::Aborted);
        place.clock.advance(Duration::from_secs(8 * 24 * 3_600));
        store.maintain(100).await?;
        assert!(place.rows().await?.iter().all(|row| !row.contains_key("g")), "what is not remembered went");
        begun(&*leases, 0).await.map(drop)
    })
}

/// Earlier versions wrote the list `h` instead of the tag.
#[test]
fn an_id_with_a_row_of_an_earlier_version_can_be_used_again() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        let leases = store.lease_repo(&"jobs".parse()?)?;
        let first = begun(&*leases, 0).await?;
        take_tags(place).await?;
        assert_eq!(leases.abort(&first).await?, Aborted::Aborted);
        take_tags(place).await?;
        begun(&*leases, 1).await?;
        take_tags(place).await?;
        place.clock.advance(2 * MINUTE);
        let third = begun(&*leases, 2).await?;
        assert_eq!(leases.begin(&first.id, &first.op, MINUTE, None).await?, Begun::Fenced);
        assert_eq!(leases.abort(&third).await?, Aborted::Aborted);
        Ok(())
    })
}

/// Rewrites the rows that have a tag: removes the tag and adds the list `h`, as earlier versions wrote the rows.
async fn take_tags(place: &Place) -> Result<()> {
    for mut row in place.rows().await? {
        if row.remove("t").is_some() {
            row.insert("h".to_owned(), AttributeValue::L(vec![]));
            let put = place.table.raw().put_item().table_name(&place.name).set_item(Some(row));
            put.send().await.map_err(failed)?;
        }
    }
    Ok(())
}
