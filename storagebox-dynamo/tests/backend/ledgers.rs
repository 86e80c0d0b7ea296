//! Compactions that are dropped, or lose a request, at each of their requests.

use std::iter::repeat_n;
use std::time::Duration;

use storagebox_core::{Backend, Change, Counter, Key, Ledger, LedgerEntry, Maintained, Result};
use storagebox_testkit::dynamodb::faults::Fault;

use crate::scene::{Gate, recorded, with_place};
use crate::support::Place;

/// Makes four changes of the key's ledger.
async fn filled(place: &Place, key: &Key) -> Result<()> {
    let ledger = place.store().await?.ledger(&"ledger".parse()?)?;
    for number in 0..4 {
        let _ = ledger.apply(key, &Change::new(format!("op-{number}").parse()?, 1 << number)).await?;
    }
    Ok(())
}

/// Checks that the value has not changed, and that the log adds up to it.
async fn ensure_kept(ledger: &dyn Ledger, key: &Key, when: &str) -> Result<()> {
    assert_eq!(ledger.value(key).await?, 15, "{when}");
    let log = ledger.log(key, None, 100).await?.entries;
    let delta = |entry: &LedgerEntry| match entry {
        LedgerEntry::Change { delta, .. } | LedgerEntry::Sum { delta, .. } => *delta,
    };
    assert_eq!(log.iter().map(delta).sum::<i64>(), 15, "{when}: {log:?}");
    Ok(())
}

fn is_one_sum(log: &[LedgerEntry]) -> bool {
    matches!(log, [LedgerEntry::Sum { delta: 15, changes: 4, .. }])
}

#[test]
fn a_compaction_with_a_lost_request_ends_correctly() -> Result<()> {
    with_place(async |place| {
        for fault in [Fault::DropBefore, Fault::DropAfter, Fault::Late, Fault::Parked, Fault::Twice, Fault::Throttle] {
            for before in 0..12 {
                let when = format!("{fault:?} after {before} requests");
                let key = Key::new(when.as_str())?;
                filled(place, &key).await?;
                let (store, faults) = recorded(&place.table, place.builder()).await?;
                let ledger = store.ledger(&"ledger".parse()?)?;
                faults.script(repeat_n(Gate::PASS, before).chain([fault]));
                let compacted = ledger.compact(&key, Duration::ZERO, 10).await?;
                assert_eq!(compacted, Maintained { deleted: 4, more: false }, "{when}");
                faults.heal();
                faults.land().await;
                ensure_kept(&*ledger, &key, &when).await?;
                assert!(is_one_sum(&ledger.log(&key, None, 10).await?.entries), "{when}");
            }
        }
        Ok(())
    })
}

/// Readers do not notice the interruption, and the next compaction finishes the work.
#[test]
fn the_next_compaction_finishes_an_interrupted_one() -> Result<()> {
    with_place(async |place| {
        for before in 0..12 {
            let when = format!("broken off after {before} requests");
            let key = Key::new(when.as_str())?;
            filled(place, &key).await?;
            let gate = Gate::default();
            let (store, faults) = gate.store(&place.table, place.builder()).await?;
            let ledger = store.ledger(&"ledger".parse()?)?;
            faults.script(repeat_n(Gate::PASS, before).chain([Gate::HOLD; 20]));
            tokio::select! {
                () = gate.reached() => {}
                // The compaction needs fewer requests, so it ends.
                compacted = ledger.compact(&key, Duration::ZERO, 10) => drop(compacted?),
            }
            let next = place.store().await?.ledger(&"ledger".parse()?)?;
            ensure_kept(&*next, &key, &when).await?;
            next.compact(&key, Duration::ZERO, 10).await?;
            ensure_kept(&*next, &key, &when).await?;
            assert!(is_one_sum(&next.log(&key, None, 10).await?.entries), "{when}");
        }
        Ok(())
    })
}
