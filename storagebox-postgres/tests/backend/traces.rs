//! A call that changes nothing leaves no row.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, Cancelled, Change, Counted, Counter, Key, OpId, Result, Retention, Strategy};
use storagebox_testkit::workload::refusals::refused;

use crate::scene::{blocked, count, patient, session, tell, until, with_place};
use crate::structure::contents;

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn a_call_that_is_refused_leaves_no_row() -> Result<()> {
    with_place(async |place| {
        let store = patient(place)?;
        refused(&store, "first").await?;
        let before = contents(&place.database, &place.schema).await?;
        refused(&store, "second").await?;
        assert_eq!(contents(&place.database, &place.schema).await?, before);
        let opened = ["namespaces", "bank_lapses", "store", "versions"];
        assert!(before.iter().all(|row| opened.iter().any(|table| row.starts_with(table))), "{before:?}");
        Ok(())
    })
}

/// The change finds no shard, waits for a session that inserts a shard, locks all shards, and then finds no room.
#[test]
fn change_refused_after_waiting_leaves_no_shard() -> Result<()> {
    with_place(async |place| {
        let bounds = Bounds::between(0, 10)?;
        let counters = patient(place)?
            .counter(&"namespace".parse()?, Strategy::Sharded { shards: 8, bounds, retention: Retention::Forever })?;
        let (key, schema) = (Key::new("key")?, &place.schema);
        counters.value(&key).await?;
        let filled =
            format!("INSERT INTO {schema}.counters SELECT namespace, 'key', 7, 10, 0, 10, 0 FROM {schema}.namespaces");
        let mut other = session(place, &filled).await?;
        let change = Change::new(OpId::new("op")?, 10);
        let commit = async {
            until("a change that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
            tell(&mut other, "COMMIT").await
        };
        let (counted, ()) = tokio::try_join!(counters.apply(&key, &change), commit)?;
        assert_eq!(counted, Counted::OutOfBounds);
        let shards = format!("SELECT count(*) FROM {schema}.counters");
        assert_eq!(count(&place.database, &shards).await?, 1, "shards that are there");
        Ok(())
    })
}

/// Upkeep deletes the fence of a cancelled operation when the retention of the operation is over.
#[test]
fn cancel_of_an_unknown_key_leaves_only_a_temporary_fence() -> Result<()> {
    with_place(async |place| {
        let retention = Retention::For(HOUR);
        let strategies = [
            Strategy::Marker { retention },
            Strategy::Window { lifetime: HOUR, capacity: 10 },
            Strategy::Sharded { shards: 8, bounds: Bounds::at_least(0), retention },
        ];
        let (store, schema) = (patient(place)?, &place.schema);
        for (number, strategy) in strategies.into_iter().enumerate() {
            let counters = store.counter(&format!("namespace {number}").parse()?, strategy)?;
            let cancelled = counters.cancel(&Key::new("key")?, &OpId::new("op")?).await?;
            assert_eq!(cancelled, Cancelled::Cancelled, "{strategy:?}");
        }
        // The row of a window counts the operations that it remembers.
        let counters = format!("SELECT count(*) FROM {schema}.counters");
        assert_eq!(count(&place.database, &counters).await?, 1);
        place.advance(2 * HOUR).await?;
        assert_eq!(store.maintain(100).await?.deleted, 3);
        assert_eq!(count(&place.database, &counters).await?, 0);
        Ok(())
    })
}
