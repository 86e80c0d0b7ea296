//! Counters of each strategy, by SQL and by the library.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Bounds, Cancelled, Change, Counted, Counter, OpId, Result, Retention, Strategy};
use storagebox_testkit::checks::id;

use super::Caller;
use crate::scene::{count, patient, with_place};
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);

fn counters(place: &Place, strategy: Strategy) -> Result<Arc<dyn Counter>> {
    patient(place)?.counter(&id("stock"), strategy)
}

fn change(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(OpId::new(op)?, delta))
}

async fn add(caller: &mut Caller, op: &str, delta: i64, bounds: &str) -> Result<String> {
    caller.says("outcome, value", &format!("add_to_counter('stock', 'shoes', '{op}', {delta}{bounds})")).await
}

#[test]
fn change_by_sql_is_recognised_by_the_library() -> Result<()> {
    with_place(async |place| {
        let mut caller = Caller::connect(place).await?;
        assert_eq!(add(&mut caller, "one", 7, "").await?, "applied 7");
        let counters = counters(place, Strategy::default())?;
        let again = counters.apply(&id("shoes"), &change("one", 7)?).await?;
        assert_eq!(again, Counted::AlreadyApplied { value: Some(7) });
        assert_eq!(add(&mut caller, "one", 7, "").await?, "already_applied 7");
        assert_eq!(add(&mut caller, "one", 8, "").await?, "mismatch");
        assert_eq!(add(&mut caller, "two", -8, ", 0").await?, "out_of_bounds");
        assert_eq!(add(&mut caller, "two", 4, ", ceiling => 10").await?, "out_of_bounds");
        assert_eq!(add(&mut caller, "two", i64::MAX, "").await?, "overflow");
        assert_eq!(counters.cancel(&id("shoes"), &id("two")).await?, Cancelled::Cancelled);
        assert_eq!(add(&mut caller, "two", -7, ", 0, 10").await?, "fenced");
        assert_eq!(add(&mut caller, "three", -7, ", 0, 10").await?, "applied 0");
        assert_eq!(counters.value(&id("shoes")).await?, 0);
        assert_eq!(caller.says("r", "counter_value('stock', 'shoes') r").await?, "0");
        Ok(())
    })
}

/// S-4: a change by SQL names no strategy, and uses the strategy of the namespace.
#[test]
fn sql_uses_the_counter_strategy_that_the_library_chose() -> Result<()> {
    let week = Retention::DEFAULT;
    for (strategy, expected) in [
        (Strategy::Atomic, ["applied 1", "applied 2", "applied 3"]),
        (Strategy::Marker { retention: Retention::Forever }, ["applied 1", "already_applied 1", "applied 2"]),
        (Strategy::Marker { retention: week }, ["applied 1", "already_applied 1", "applied 2"]),
        (Strategy::Window { lifetime: HOUR, capacity: 1 }, ["applied 1", "already_applied 1", "full"]),
        (
            Strategy::Sharded { shards: 4, bounds: Bounds::NONE, retention: week },
            ["applied", "already_applied", "applied"],
        ),
    ] {
        with_place(async |place| {
            counters(place, strategy)?.value(&id("shoes")).await?;
            let mut caller = Caller::connect(place).await?;
            for (op, expected) in ["one", "one", "two"].into_iter().zip(expected) {
                assert_eq!(add(&mut caller, op, 1, "").await?, expected, "{strategy:?}, {op}");
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A change for which its shard has no room uses room from other shards.
#[test]
fn sql_and_the_library_share_the_total_of_a_sharded_counter() -> Result<()> {
    with_place(async |place| {
        let bounds = Bounds::between(-5, 40)?;
        let strategy = Strategy::Sharded { shards: 4, bounds, retention: Retention::Forever };
        let counters = counters(place, strategy)?;
        counters.value(&id("shoes")).await?;
        let mut caller = Caller::connect(place).await?;
        assert_eq!(add(&mut caller, "more than a shard holds", 30, "").await?, "applied");
        for op in 0..10 {
            assert_eq!(add(&mut caller, &op.to_string(), 1, ", -5, 40").await?, "applied");
            let again = counters.apply(&id("shoes"), &change(&op.to_string(), 1)?).await?;
            assert_eq!(again, Counted::AlreadyApplied { value: None });
        }
        assert_eq!(add(&mut caller, "too many", 1, "").await?, "out_of_bounds");
        assert_eq!(caller.refusal("add_to_counter('stock', 'shoes', 'op', 1, 0, 40)").await, "SB005");
        assert_eq!(caller.says("r", "counter_value('stock', 'shoes') r").await?, "40");
        Ok(())
    })
}

/// SQL and the library make the same operation, which is applied once because both lock the same shard.
#[test]
fn sql_and_the_library_choose_the_same_shard() -> Result<()> {
    const DIFFERENT: &str = "SELECT count(*) FROM (
        SELECT shard, value FROM {schema}.counters WHERE key = 'shoes'
        EXCEPT SELECT shard, value FROM {schema}.counters WHERE key = 'by the library') d";
    with_place(async |place| {
        let strategy = Strategy::Sharded { shards: 5, bounds: Bounds::NONE, retention: Retention::Forever };
        let (counters, mut caller) = (counters(place, strategy)?, Caller::connect(place).await?);
        for op in 0..20 {
            let applied = counters.apply(&id("by the library"), &change(&op.to_string(), 1 << op)?).await?;
            assert_eq!(applied, Counted::Applied { value: None });
            assert_eq!(add(&mut caller, &op.to_string(), 1 << op, "").await?, "applied");
        }
        assert_eq!(count(&place.database, &DIFFERENT.replace("{schema}", &place.schema)).await?, 0);
        Ok(())
    })
}
