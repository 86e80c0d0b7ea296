//! Calls that are void (ER-5), where the suite cannot look: attempts that are held between two requests, lost replies of
//! the write that makes a call void, what it costs, and the room for it.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Attempt, Backend, Bounds, Change, ClaimId, ClaimState, Confirmed, Counted, Counter, ErrorKind, Extended, Hold,
    HoldState, Item, ItemBank, Key, Released, Result, Retention, Retired, Strategy, Taken,
};
use storagebox_testkit::dynamodb::faults::{Fault, Faults};

use crate::scene::{Gate, recorded, with_place};
use crate::support::{Place, failed, items};

const HOUR: Duration = Duration::from_secs(3_600);
const WEEKS: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The strategies that keep void calls.
const KEEPERS: [Strategy; 4] = [
    Strategy::Marker { retention: Retention::For(HOUR) },
    Strategy::TokenSet { max: 9 },
    Strategy::Window { lifetime: HOUR, capacity: 9 },
    Strategy::Sharded { shards: 2, bounds: Bounds::NONE, retention: Retention::For(HOUR) },
];

fn call(number: i64) -> Attempt {
    Attempt::of_call(number)
}

async fn empty_bank(place: &Place) -> Result<(Arc<dyn ItemBank>, ClaimId)> {
    Ok((place.store().await?.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?))
}

/// It has read that the claim is unknown, or that only another call is void, when its own call becomes void.
#[test]
fn a_take_that_was_sent_before_its_call_became_void_takes_nothing() -> Result<()> {
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

/// The refusal is not answered: the lost attempt has arrived between the look and the write.
#[test]
fn a_take_that_lands_before_its_call_becomes_void_counts() -> Result<()> {
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

/// They stay void with the claim that takes an item by another call, and until it is retired.
#[test]
fn void_calls_stay_void_while_their_claim_holds_and_after_it() -> Result<()> {
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

/// It has seen a claim that has ended for it, and not yet for the repetition.
#[test]
fn a_retire_that_was_sent_before_its_call_became_void_forgets_nothing() -> Result<()> {
    with_place(async |place| {
        let (gate, (bank, claim)) = (Gate::default(), empty_bank(place).await?);
        bank.add(&items(1)?).await?;
        let _ = bank.take(&claim, Hold::For(HOUR)).await?;
        // The clock of the first attempt is ahead by less than clocks may be apart.
        let ahead = storagebox_core::ManualClock::new();
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
fn a_claim_has_room_for_sixteen_calls_and_upkeep_makes_room() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        for number in 0..Attempt::MAX_VOID as i64 {
            assert_eq!(bank.attempt_take(call(number).again(), &claim, Hold::Forever).await?, Taken::Empty);
        }
        let error = bank.attempt_take(call(-1).again(), &claim, Hold::Forever).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
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

/// A first attempt that is refused writes nothing. The write of a repeated one may be lost as well.
#[test]
fn only_a_repeated_refusal_writes() -> Result<()> {
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

fn step(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(op.parse()?, delta))
}

fn sharded(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::Sharded { .. })
}

/// A change by the least `i64` overflows unless the value is 0 or more.
#[test]
fn a_change_that_was_sent_before_its_call_became_void_is_not_applied() -> Result<()> {
    for strategy in KEEPERS {
        for others in [0, 1] {
            with_place(async |place| {
                let (gate, key, change) = (Gate::default(), Key::new("key")?, step("sale", i64::MIN)?);
                let near = place.store().await?.counter(&"namespace".parse()?, strategy)?;
                let _ = near.apply(&key, &step("below", -1)?).await?;
                for other in 0..others {
                    let refused = near.attempt_apply(call(-1 - other).again(), &key, &change).await?;
                    assert_eq!(refused, Counted::Overflow, "{strategy:?}");
                }
                let _ = near.apply(&key, &step("up", 1)?).await?;
                let (store, faults) = gate.store(&place.table, place.builder()).await?;
                let far = store.counter(&"namespace".parse()?, strategy)?;
                // A set learns of others' void calls from a refusal, and a shard that it needs the room of the other.
                let is_second = others > 0 && !matches!(strategy, Strategy::Marker { .. }) || sharded(strategy);
                let script = if is_second { vec![Gate::PASS, Gate::HOLD] } else { vec![Gate::HOLD] };
                faults.script_for("UpdateItem", script.clone());
                faults.script_for("TransactWriteItems", script);
                let late = tokio::spawn({
                    let (key, change) = (key.clone(), change.clone());
                    async move { far.attempt_apply(call(7), &key, &change).await }
                });
                gate.reached().await;
                let _ = near.apply(&key, &step("down", -1)?).await?;
                let refused = near.attempt_apply(call(7).again(), &key, &change).await?;
                assert_eq!(refused, Counted::Overflow, "{strategy:?}");
                let _ = near.apply(&key, &step("up again", 1)?).await?;
                gate.open();
                assert_eq!(late.await.map_err(failed)??, Counted::Overflow, "{strategy:?} with {others} other calls");
                assert_eq!(near.value(&key).await?, 0, "{strategy:?}");
                assert!(matches!(near.apply(&key, &change).await?, Counted::Applied { .. }), "{strategy:?}");
                let known = near.attempt_apply(call(7), &key, &change).await?;
                assert!(matches!(known, Counted::AlreadyApplied { .. }), "{strategy:?}: {known:?}");
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// The refusal is not answered: the lost attempt has arrived between the look and the write.
#[test]
fn a_change_that_lands_before_its_call_becomes_void_counts() -> Result<()> {
    for strategy in KEEPERS {
        with_place(async |place| {
            let (gate, key, sale) = (Gate::default(), Key::new("key")?, step("sale", i64::MIN)?);
            let near = place.store().await?.counter(&"namespace".parse()?, strategy)?;
            let _ = near.apply(&key, &step("below", -1)?).await?;
            let (store, faults) = gate.store(&place.table, place.builder()).await?;
            let far = store.counter(&"namespace".parse()?, strategy)?;
            let is_set = matches!(strategy, Strategy::TokenSet { .. } | Strategy::Window { .. });
            faults.script_for("UpdateItem", if is_set { vec![Gate::PASS, Gate::HOLD] } else { vec![Gate::HOLD] });
            let refused = tokio::spawn({
                let (key, sale) = (key.clone(), sale.clone());
                async move { far.attempt_apply(call(7).again(), &key, &sale).await }
            });
            gate.reached().await;
            let _ = near.apply(&key, &step("up", 1)?).await?;
            let applied = near.attempt_apply(call(7), &key, &sale).await?;
            assert!(matches!(applied, Counted::Applied { .. }), "{strategy:?}: {applied:?}");
            gate.open();
            let known = refused.await.map_err(failed)??;
            assert!(matches!(known, Counted::AlreadyApplied { .. }), "{strategy:?}: {known:?}");
            assert_eq!(near.value(&key).await?, i64::MIN, "{strategy:?}");
            Ok(())
        })?;
    }
    Ok(())
}

/// A set stores the void calls of all its operations as one value.
#[test]
fn refusals_at_once_lose_no_void_call() -> Result<()> {
    with_place(async |place| {
        let (gate, key, strategy) = (Gate::default(), Key::new("key")?, Strategy::TokenSet { max: 9 });
        let near = place.store().await?.counter(&"namespace".parse()?, strategy)?;
        let _ = near.apply(&key, &step("below", -1)?).await?;
        let (store, faults) = gate.store(&place.table, place.builder()).await?;
        let far = store.counter(&"namespace".parse()?, strategy)?;
        let refused = async |op: &str, number| {
            let counted = near.attempt_apply(call(number).again(), &key, &step(op, i64::MIN)?).await?;
            assert_eq!(counted, Counted::Overflow, "{op}");
            Ok::<_, storagebox_core::Error>(())
        };
        refused("first", 1).await?;
        faults.script_for("UpdateItem", [Gate::PASS, Gate::HOLD]);
        let held = tokio::spawn({
            let (key, change) = (key.clone(), step("second", i64::MIN)?);
            async move { far.attempt_apply(call(2).again(), &key, &change).await }
        });
        gate.reached().await;
        refused("third", 3).await?;
        gate.open();
        assert_eq!(held.await.map_err(failed)??, Counted::Overflow);
        let _ = near.apply(&key, &step("up", 1)?).await?;
        for (op, number) in [("first", 1), ("second", 2), ("third", 3)] {
            let late = near.attempt_apply(call(number), &key, &step(op, i64::MIN)?).await?;
            assert_eq!(late, Counted::Overflow, "{op}");
        }
        Ok(())
    })
}

/// The void calls of a set are in its row, which has room for those of about a hundred operations. They take no room of
/// the operations.
#[test]
fn the_void_calls_of_a_set_are_bounded_and_lapse_in_a_window() -> Result<()> {
    with_place(async |place| {
        let strategy = Strategy::Window { lifetime: HOUR, capacity: 2 };
        let (counter, key) = (place.store().await?.counter(&"namespace".parse()?, strategy)?, Key::new("key")?);
        for op in ["one", "two"] {
            let _ = counter.apply(&key, &Change::new(op.parse()?, 1)).await?;
        }
        let refused = async |number: i64| {
            let change = Change::new(format!("op-{number}").parse()?, 1);
            counter.attempt_apply(call(number).again(), &key, &change).await
        };
        let mut number = 0;
        let error = loop {
            match refused(number).await {
                Ok(counted) => assert_eq!(counted, Counted::Full),
                Err(error) => break error,
            }
            number += 1;
        };
        assert_eq!((error.kind(), number), (ErrorKind::OutcomeUnknown, 107), "{error}");
        place.clock.advance(HOUR);
        for op in ["three", "four"] {
            assert!(matches!(counter.apply(&key, &Change::new(op.parse()?, 1)).await?, Counted::Applied { .. }));
        }
        assert_eq!(refused(number).await?, Counted::Full);
        Ok(())
    })
}
