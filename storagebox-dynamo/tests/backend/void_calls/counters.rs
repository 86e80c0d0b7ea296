//! Void calls of counters.

use storagebox_core::{
    Attempt, Backend, Bounds, Change, Counted, Counter, Error, ErrorKind, Key, Result, Retention, Strategy,
};

use super::{HOUR, call};
use crate::scene::{Gate, with_place};
use crate::support::failed;

/// The strategies that keep void calls.
const KEEPERS: [Strategy; 4] = [
    Strategy::Marker { retention: Retention::For(HOUR) },
    Strategy::TokenSet { max: 9 },
    Strategy::Window { lifetime: HOUR, capacity: 9 },
    Strategy::Sharded { shards: 2, bounds: Bounds::NONE, retention: Retention::For(HOUR) },
];

fn step(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(op.parse()?, delta))
}

fn sharded(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::Sharded { .. })
}

/// The change adds the least `i64`, which overflows unless the value is 0 or more.
#[test]
fn a_late_change_of_a_void_call_is_not_applied() -> Result<()> {
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
                // With other void calls, a set meets a refusal first. A sharded counter always does, because its shard
                // must borrow room.
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

/// The lost attempt is applied after the repeated attempt has read and before it writes. So the call does not return a
/// refusal.
#[test]
fn a_lost_change_is_applied_if_it_arrives_before_the_refusal() -> Result<()> {
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

/// An operation keeps sixteen void calls. Those that are forgotten do not count.
#[test]
fn forgotten_void_calls_leave_room_for_others() -> Result<()> {
    for strategy in KEEPERS.into_iter().filter(|strategy| !matches!(strategy, Strategy::TokenSet { .. })) {
        with_place(async |place| {
            let (key, sale) = (Key::new("key")?, step("sale", i64::MIN)?);
            let counter = place.store().await?.counter(&"namespace".parse()?, strategy)?;
            let _ = counter.apply(&key, &step("below", -1)?).await?;
            for round in 0..2 {
                for number in 0..Attempt::MAX_VOID as i64 {
                    let attempt = call(100 * round + number).again();
                    let refused = counter.attempt_apply(attempt, &key, &sale).await?;
                    assert_eq!(refused, Counted::Overflow, "{strategy:?}, round {round}, call {number}");
                }
                let error = counter.attempt_apply(call(-1).again(), &key, &sale).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{strategy:?}: {error}");
                // No upkeep: the rows of the first round are still there.
                place.clock.advance(2 * HOUR);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A set stores the void calls of all its operations as one value.
#[test]
fn concurrent_refusals_lose_no_void_call() -> Result<()> {
    with_place(async |place| {
        let (gate, key, strategy) = (Gate::default(), Key::new("key")?, Strategy::TokenSet { max: 9 });
        let near = place.store().await?.counter(&"namespace".parse()?, strategy)?;
        let _ = near.apply(&key, &step("below", -1)?).await?;
        let (store, faults) = gate.store(&place.table, place.builder()).await?;
        let far = store.counter(&"namespace".parse()?, strategy)?;
        let refused = async |op: &str, number| {
            let counted = near.attempt_apply(call(number).again(), &key, &step(op, i64::MIN)?).await?;
            assert_eq!(counted, Counted::Overflow, "{op}");
            Ok::<_, Error>(())
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

/// A set has its operations and void calls in one row. The row has room for the void calls of about a hundred
/// operations.
#[test]
fn void_calls_are_bounded_in_a_set_and_lapse_in_a_window() -> Result<()> {
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
