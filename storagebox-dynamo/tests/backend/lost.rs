//! Single requests that are lost, refused or partly done, after which a wrong outcome would look right.

use std::time::Duration;

use storagebox_core::{
    Aborted, Added, Backend, Begun, Certainty, Change, ClaimId, ClaimState, Completed, Counter, DedupId, DedupRepo,
    ErrorKind, Forgotten, Hold, Item, ItemBank, Key, LeaseExtended, LeaseRepo, OpId, Payload, Recorded, Released,
    Replaced, Result, Retention, Strategy, Taken,
};
use storagebox_testkit::dynamodb::faults::Fault;

use crate::scene::{Gate, recorded, with_place};
use crate::support::{failed, items};

#[test]
fn an_add_whose_reply_was_lost_reports_what_it_added() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&items(1)?).await?;
        for fault in [Fault::DropBefore, Fault::DropAfter, Fault::ErrorAfter, Fault::Torn, Fault::Twice] {
            let added = [Item::new(format!("{fault:?}"))?];
            faults.script_for("PutItem", [fault]);
            assert_eq!(bank.add(&added).await?, Added { added: 1, already_present: 0 }, "{fault:?}");
            assert_eq!(bank.add(&added).await?, Added { added: 0, already_present: 1 }, "{fault:?}");
        }
        assert_eq!(faults.total(), 5);
        Ok(())
    })
}

/// The reply to each write of records and leases is lost. The call recognises a write that was applied, and repeats a
/// write that was not applied.
#[test]
fn a_record_or_lease_with_a_lost_reply_has_its_true_outcome() -> Result<()> {
    const HOUR: Duration = Duration::from_secs(3_600);
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (records, leases) = (store.dedup_repo(&"namespace".parse()?)?, store.lease_repo(&"namespace".parse()?)?);
        let (value, first, second) = (Payload::try_from("value")?, OpId::new("first")?, OpId::new("second")?);
        records.get(&DedupId::new("none")?).await?;
        for fault in [Fault::DropBefore, Fault::DropAfter, Fault::ErrorAfter, Fault::Torn, Fault::Twice] {
            let id = DedupId::new(format!("{fault:?}"))?;
            faults.script_for("PutItem", [fault]);
            let recorded = records.record(&id, &value, &first, Retention::Forever).await?;
            let Recorded::New(version) = recorded else { panic!("{fault:?}: {recorded:?}") };
            faults.script_for("UpdateItem", [fault]);
            let replaced = records.replace(&id, version, &value, &first).await?;
            let Replaced::Replaced(version) = replaced else { panic!("{fault:?}: {replaced:?}") };
            faults.script_for("UpdateItem", [fault]);
            assert_eq!(records.forget(&id, version).await?, Forgotten::Forgotten, "{fault:?}");
            faults.script_for("TransactWriteItems", [fault]);
            let begun = leases.begin(&id, &second, HOUR, None).await?;
            let Begun::Started(lease) = begun else { panic!("{fault:?}: {begun:?}") };
            faults.script_for("UpdateItem", [fault]);
            assert_eq!(leases.extend(&lease, 2 * HOUR).await?, LeaseExtended::Extended, "{fault:?}");
            faults.script_for("UpdateItem", [fault]);
            let completed = leases.complete(&lease, &value, Retention::Forever).await?;
            assert!(matches!(completed, Completed::Completed(_)), "{fault:?}: {completed:?}");
            let id = DedupId::new(format!("{fault:?}, aborted"))?;
            let begun = leases.begin(&id, &first, HOUR, None).await?;
            let Begun::Started(lease) = begun else { panic!("{fault:?}: {begun:?}") };
            faults.script_for("UpdateItem", [fault]);
            assert_eq!(leases.abort(&lease).await?, Aborted::Aborted, "{fault:?}");
        }
        assert_eq!(faults.total(), 35);
        Ok(())
    })
}

/// The first attempt is lost, and the second attempt finds no item. The first attempt arrives after an item is free
/// again.
#[test]
fn a_late_take_after_the_outcome_empty_takes_nothing() -> Result<()> {
    with_place(async |place| {
        let (gate, claim, other) = (Gate::default(), ClaimId::new("ada")?, ClaimId::new("bob")?);
        let (store, faults) = gate.store(&place.table, place.builder()).await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        let elsewhere = place.store().await?.item_bank(&"namespace".parse()?)?;
        bank.add(&items(1)?).await?;
        faults.script_for("TransactWriteItems", [Fault::Parked, Gate::HOLD]);
        let late = tokio::spawn({
            let claim = claim.clone();
            async move { bank.take(&claim, Hold::Forever).await }
        });
        gate.reached().await;
        assert!(matches!(elsewhere.take(&other, Hold::Forever).await?, Taken::New(_)));
        gate.open();
        assert_eq!(late.await.map_err(failed)??, Taken::Empty);
        assert_eq!(elsewhere.release(&other).await?, Released::Released);
        faults.land().await;
        assert_eq!(elsewhere.get(&claim).await?, ClaimState::Unknown);
        assert!(matches!(elsewhere.take(&claim, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// The service reports a failure, and does not say whether the change was applied.
#[test]
fn a_service_error_makes_the_outcome_of_an_atomic_change_unknown() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (counter, key) = (store.counter(&"namespace".parse()?, Strategy::Atomic)?, Key::new("key")?);
        let _ = counter.apply(&key, &Change::new("first".parse()?, 1)).await?;
        for (fault, value) in [(Fault::ErrorBefore, 1), (Fault::ErrorAfter, 6), (Fault::Torn, 11)] {
            faults.script_for("UpdateItem", [fault]);
            let error = counter.apply(&key, &Change::new("op".parse()?, 5)).await.unwrap_err();
            let found = (error.kind(), error.certainty(), error.is_retryable());
            assert_eq!(found, (ErrorKind::OutcomeUnknown, Certainty::Unknown, false), "{fault:?}: {error}");
            assert_eq!(counter.value(&key).await?, value, "{fault:?}");
        }
        Ok(())
    })
}

/// An earlier request with the same token may still be applied.
#[test]
fn a_transaction_that_stays_in_progress_has_an_unknown_outcome() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        bank.add(&items(1)?).await?;
        faults.script_for("TransactWriteItems", [Fault::InProgress; 100]);
        let error = bank.take(&claim, Hold::Forever).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown), "{error}");
        faults.heal();
        assert!(matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// Upkeep reads a forgotten claim. The claim takes an item again before upkeep's delete arrives.
#[test]
fn upkeep_keeps_a_claim_that_is_taken_again_meanwhile() -> Result<()> {
    with_place(async |place| {
        let (gate, claim) = (Gate::default(), ClaimId::new("ada")?);
        let (store, faults) = gate.store(&place.table, place.builder()).await?;
        let bank = place.store().await?.item_bank(&"namespace".parse()?)?;
        bank.add(&items(1)?).await?;
        let _ = bank.release(&claim).await?;
        place.clock.advance(Duration::from_secs(8 * 24 * 3_600));
        faults.script_for("DeleteItem", [Gate::HOLD]);
        let upkeep = tokio::spawn(async move { store.maintain(100).await });
        gate.reached().await;
        assert!(matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_)));
        gate.open();
        assert_eq!(upkeep.await.map_err(failed)??.deleted, 0);
        assert!(matches!(bank.get(&claim).await?, ClaimState::Held(_)));
        Ok(())
    })
}

/// Rows that upkeep deleted before the error stay deleted.
#[test]
fn upkeep_that_fails_after_a_deletion_has_an_unknown_outcome() -> Result<()> {
    with_place(async |place| {
        let gate = Gate::default();
        let (store, faults) = gate.store(&place.table, place.builder()).await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        for number in 0..3 {
            let _ = bank.release(&ClaimId::new(format!("claim-{number}"))?).await?;
        }
        place.clock.advance(Duration::from_secs(8 * 24 * 3_600));
        let refused = [Fault::Throttle; 100];
        let none_deleted = (Fault::Throttle, ErrorKind::Throttled, Certainty::NotApplied);
        let one_deleted = (Gate::PASS, ErrorKind::OutcomeUnknown, Certainty::Unknown);
        for (first, kind, certainty) in [none_deleted, one_deleted] {
            faults.script_for("DeleteItem", [first].into_iter().chain(refused));
            let error = store.maintain(100).await.unwrap_err();
            let found = (error.kind(), error.certainty(), error.is_retryable());
            assert_eq!(found, (kind, certainty, true), "{first:?}: {error}");
            faults.heal();
        }
        assert_eq!(store.maintain(100).await?.deleted, 2);
        Ok(())
    })
}
