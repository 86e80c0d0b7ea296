//! One id that is used repeatedly, as by a job that runs every minute.

use std::time::Duration;

use storagebox_core::{Aborted, Backend, Begun, DedupId, Lease, LeaseRepo, OpId, Payload, Result, Retention};

use crate::metered::{Cost, Metered};
use crate::scene::with_place;
use crate::support::{failed, longest_row};
use crate::workload::LEASES;

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);
const TIMES: usize = 200;
/// The run from which on the row has the largest number of its last writers. This run is aborted, as every second one.
const FULL_LOG: usize = 20;

async fn begun(leases: &dyn LeaseRepo, number: usize) -> Result<Lease> {
    let (id, op) = (DedupId::new("job")?, OpId::new(format!("run-{number}"))?);
    match leases.begin(&id, &op, MINUTE, None).await? {
        Begun::Started(lease) => Ok(lease),
        other => Err(failed(format_args!("run {number}: {other:?}"))),
    }
}

#[test]
fn an_id_costs_the_same_however_often_it_was_used() -> Result<()> {
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
            if [FULL_LOG, TIMES - 2].contains(&number) {
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

/// Whatever became of its run, and however many came after.
#[test]
fn every_run_that_is_over_stays_over() -> Result<()> {
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
