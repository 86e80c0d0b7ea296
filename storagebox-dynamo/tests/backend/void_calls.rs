//! Void calls (ER-5), where the suite cannot test them: attempts that are held between two requests, lost replies of
//! the write that makes a call void, and the cost and the limit of void calls.

mod counters;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Attempt, Backend, ClaimId, ClaimState, Confirmed, ErrorKind, Extended, Hold, HoldState, Item, ItemBank,
    ManualClock, Released, Result, Retired, Taken,
};
use storagebox_testkit::dynamodb::faults::{Fault, Faults};

use crate::scene::{Gate, recorded, with_place};
use crate::support::{Place, failed, items};

const HOUR: Duration = Duration::from_secs(3_600);
const WEEKS: Duration = Duration::from_secs(30 * 24 * 3_600);
fn call(number: i64) -> Attempt {
    Attempt::of_call(number)
}

async fn empty_bank(place: &Place) -> Result<(Arc<dyn ItemBank>, ClaimId)> {
    Ok((place.store().await?.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?))
}

/// The late attempt reads that its claim is unknown. The call becomes void before the attempt writes.
#[test]
fn a_late_take_of_a_void_call_takes_nothing() -> Result<()> {
    for others in [0, 1] {
        with_place(async |place| {
            let (gate, (bank, claim)) = (Gate::default(), empty_bank(place).await?);
            for other in 0..others {
                assert_eq!(bank.attempt_take(call(-1 - other).again(), &claim, Hold::Forever).await?, Taken::Empty);
            }
            bank.add(&items(1)?).await?;
            let (store, faults) = gate.store(&place.table, place.builder()).await?;
            let far = store.item_bank(&"namespace".parse()?)?;
            faults.script_for("TransactWriteItems", [Gate::HOLD]);
            let late = tokio::spawn({
                let claim = claim.clone();
                async move { far.attempt_take(call(7), &claim, Hold::Forever).await }
            });
            gate.reached().await;
            let other = ClaimId::new("bob")?;
            assert!(matches!(bank.take(&other, Hold::Forever).await?, Taken::New(_)));
            assert_eq!(bank.attempt_take(call(7).again(), &claim, Hold::Forever).await?, Taken::Empty);
            assert_eq!(bank.release(&other).await?, Released::Released);
            gate.open();
            assert_eq!(late.await.map_err(failed)??, Taken::Empty, "with {others} other calls");
            assert_eq!(bank.get(&claim).await?, ClaimState::Unknown);
            assert!(matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_)));
            Ok(())
        })?;
    }
    Ok(())
}

/// The lost attempt takes the item after the repeated attempt has read and before it writes. So the call does not
/// return a refusal.
#[test]
fn a_lost_take_is_applied_if_it_arrives_before_the_refusal() -> Result<()> {
    with_place(async |place| {
        let (gate, (bank, claim)) = (Gate::default(), empty_bank(place).await?);
        let (store, faults) = gate.store(&place.table, place.builder()).await?;
        let far = store.item_bank(&"namespace".parse()?)?;
        faults.script_for("UpdateItem", [Gate::HOLD]);
        let refused = tokio::spawn({
            let claim = claim.clone();
            async move { far.attempt_take(call(7).again(), &claim, Hold::Forever).await }
        });
        gate.reached().await;
        bank.add(&items(1)?).await?;
        let taken = bank.attempt_take(call(7), &claim, Hold::Forever).await?;
        let Taken::New(held) = taken else { panic!("{taken:?}") };
        gate.open();
        assert_eq!(refused.await.map_err(failed)??, Taken::Again(held));
        Ok(())
    })
}

/// The calls stay void even if another call takes an item for the claim.
#[test]
fn void_calls_stay_void_until_their_claim_is_retired() -> Result<()> {
    with_place(async |place| {
        let (bank, claim) = empty_bank(place).await?;
        assert_eq!(bank.attempt_confirm(call(1).again(), &claim).await?, Confirmed::Unknown);
        assert_eq!(bank.attempt_extend(call(2).again(), &claim, Hold::Forever).await?, Extended::Unknown);
        bank.add(&items(1)?).await?;
        assert!(matches!(bank.take(&claim, Hold::For(HOUR)).await?, Taken::New(_)));
        assert_eq!(bank.attempt_retire(call(3).again(), &claim).await?, Retired::Holding);
        assert_eq!(bank.attempt_confirm(call(1), &claim).await?, Confirmed::Unknown);
        assert_eq!(bank.attempt_extend(call(2), &claim, Hold::Forever).await?, Extended::Unknown);
        let state = bank.get(&claim).await?;
        assert!(matches!(&state, ClaimState::Held(held) if held.hold == HoldState::Remaining(HOUR)), "{state:?}");
        assert!(matches!(bank.extend(&claim, Hold::For(2 * HOUR)).await?, Extended::Extended(_)));
        assert!(matches!(bank.confirm(&claim).await?, Confirmed::Confirmed(_)));
        assert_eq!(bank.attempt_retire(call(3), &claim).await?, Retired::Holding);
        assert_eq!(bank.retire(&claim).await?, Retired::Retired);
        assert_eq!(bank.attempt_retire(call(3), &claim).await?, Retired::Unknown);
        Ok(())
    })
}

/// The claim has ended by the clock of the late attempt, and still holds by the clock of the repeated attempt.
#[test]
fn a_late_retire_of_a_void_call_forgets_nothing() -> Result<()> {
    with_place(async |place| {
        let (gate, (bank, claim)) = (Gate::default(), empty_bank(place).await?);
        bank.add(&items(1)?).await?;
        let _ = bank.take(&claim, Hold::For(HOUR)).await?;
        // The clock of the first attempt is an hour ahead.
        let ahead = ManualClock::new();
        ahead.advance(HOUR);
        let builder = place.builder().clock(ahead).max_skew(Duration::ZERO);
        let (store, faults) = gate.store(&place.table, builder).await?;
        let far = store.item_bank(&"namespace".parse()?)?;
        faults.script_for("TransactWriteItems", [Gate::HOLD]);
        let late = tokio::spawn({
            let claim = claim.clone();
            async move { far.attempt_retire(call(7), &claim).await }
        });
        gate.reached().await;
        assert_eq!(bank.attempt_retire(call(7).again(), &claim).await?, Retired::Holding);
        gate.open();
        assert_eq!(late.await.map_err(failed)??, Retired::Holding);
        assert!(matches!(bank.get(&claim).await?, ClaimState::Held(_)));
        Ok(())
    })
}

#[test]
fn a_claim_keeps_sixteen_void_calls_until_upkeep_deletes_them() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        for number in 0..Attempt::MAX_VOID as i64 {
            assert_eq!(bank.attempt_take(call(number).again(), &claim, Hold::Forever).await?, Taken::Empty);
        }
        faults.reset();
        let error = bank.attempt_take(call(-1).again(), &claim, Hold::Forever).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
        // Repetitions find the same void calls, so there are only two, of two or three requests each.
        assert!(requests(&faults) < 10);
        assert_eq!(bank.attempt_take(call(0).again(), &claim, Hold::Forever).await?, Taken::Empty);
        let is_void = |row: &std::collections::HashMap<String, _>| row.contains_key("x");
        assert_eq!(place.rows().await?.iter().filter(|row| is_void(row)).count(), 1);
        place.clock.advance(WEEKS);
        faults.reset();
        assert_eq!(store.maintain(100).await?.deleted, 1);
        assert_eq!(place.rows().await?.iter().filter(|row| is_void(row)).count(), 0);
        bank.add(&items(1)?).await?;
        assert!(matches!(bank.attempt_take(call(0), &claim, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

fn requests(faults: &Faults) -> u64 {
    let sent = faults.requests().values().sum();
    faults.reset();
    sent
}

/// The first attempt of a call writes nothing if it is refused. A repeated attempt returns the refusal even if the
/// request or reply of its write is lost.
#[test]
fn only_a_repeated_attempt_writes_its_refusal() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        assert_eq!(bank.take(&claim, Hold::Forever).await?, Taken::Empty);
        let before = place.rows().await?.len();
        faults.reset();
        assert_eq!(bank.attempt_take(call(1), &claim, Hold::Forever).await?, Taken::Empty);
        let first = requests(&faults);
        assert_eq!(place.rows().await?.len(), before);
        assert_eq!(bank.attempt_take(call(1).again(), &claim, Hold::Forever).await?, Taken::Empty);
        assert_eq!(requests(&faults), first + 1);
        for (number, fault) in
            [Fault::DropBefore, Fault::DropAfter, Fault::Torn, Fault::ErrorAfter].into_iter().enumerate()
        {
            faults.script_for("UpdateItem", [fault]);
            let taken = bank.attempt_take(call(2 + number as i64).again(), &claim, Hold::Forever).await?;
            assert_eq!(taken, Taken::Empty, "{fault:?}");
        }
        bank.add(&[Item::new("code")?]).await?;
        for number in 1..6 {
            assert_eq!(bank.attempt_take(call(number), &claim, Hold::Forever).await?, Taken::Empty, "call {number}");
        }
        // Another call pays for no second transaction, although the claim has a row.
        faults.reset();
        assert!(matches!(bank.take(&claim, Hold::Forever).await?, Taken::New(_)));
        assert_eq!(faults.requests().get("TransactWriteItems"), Some(&1));
        Ok(())
    })
}
