//! Upkeep during other calls, and of more rows than one step handles.

use std::time::Duration;

use storagebox_core::{Backend, Change, Counted, Counter, ItemBank, Key, Maintained, Result, Strategy};
use storagebox_postgres::PostgresStore;

use crate::scene::{blocked, count, lapse, patient, session, tell, until, with_place};
use crate::support::{Place, run};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A caller repeats an operation whose retention is over. The call waits while upkeep deletes the old row, and then
/// inserts a new row.
#[test]
fn repeated_operation_gets_a_new_row_after_upkeep_deletes_the_old() -> Result<()> {
    with_place(async |place| {
        let counters = patient(place)?.counter(&"namespace".parse()?, Strategy::default())?;
        let _ = counters.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?;
        place.advance(8 * DAY).await?;
        let schema = &place.schema;
        let mut upkeep = session(place, &format!("SELECT FROM {schema}.counter_ops FOR UPDATE")).await?;
        let remove = async {
            until("an operation that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
            tell(&mut upkeep, &format!("SELECT {schema}.counter_maintain(10); COMMIT")).await
        };
        let (key, change) = ("key".parse()?, Change::new("op".parse()?, 5));
        let (counted, ()) = tokio::try_join!(counters.apply(&key, &change), remove)?;
        assert_eq!(counted, Counted::Applied { value: Some(10) });
        assert_eq!(counters.apply(&key, &change).await?, Counted::AlreadyApplied { value: Some(10) });
        assert_eq!(counters.value(&Key::new("key")?).await?, 10);
        Ok(())
    })
}

async fn lapsed(place: &Place, holds: i64) -> Result<PostgresStore> {
    let store = patient(place)?;
    store.item_bank(&"namespace".parse()?)?.counts().await?;
    run(place.database.owner(), lapse(&place.schema, holds)).await?;
    Ok(store)
}

/// Each step is committed before the next begins, so a failed step undoes no other step.
#[test]
fn upkeep_commits_steps_of_a_thousand_rows() -> Result<()> {
    with_place(async |place| {
        let store = lapsed(place, 2_500).await?;
        assert_eq!(store.maintain(usize::MAX).await?, Maintained { deleted: 0, more: false });
        let schema = &place.schema;
        let freed = format!("SELECT count(*) FROM {schema}.free_items");
        assert_eq!(count(&place.database, &freed).await?, 2_500);
        for table in ["free_items", "claims"] {
            let steps = format!("SELECT count(*) AS rows FROM {schema}.{table} GROUP BY xmin::text");
            let most = format!("SELECT max(step.rows) FROM ({steps}) step");
            assert_eq!(count(&place.database, &most).await?, 1_000, "{table}");
        }
        Ok(())
    })
}

#[test]
fn upkeep_that_uses_its_whole_budget_reports_that_work_is_left() -> Result<()> {
    with_place(async |place| {
        let store = lapsed(place, 10).await?;
        let freed = format!("SELECT count(*) FROM {}.free_items", place.schema);
        for (budget, more, expected) in [(4, true, 4), (5, true, 9), (5, false, 10)] {
            assert_eq!(store.maintain(budget).await?, Maintained { deleted: 0, more });
            assert_eq!(count(&place.database, &freed).await?, expected);
        }
        Ok(())
    })
}
