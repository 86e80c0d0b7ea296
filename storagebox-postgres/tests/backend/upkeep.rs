//! Upkeep beside calls.

use std::time::Duration;

use storagebox_core::{Counted, Counter, CounterExt, Key, Result, StoreExt, Strategy};
use storagebox_postgres::PostgresStore;

use crate::scene::{LONG, blocked, session, tell, until, with_place};
use crate::support::Place;

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn store(place: &Place) -> Result<PostgresStore> {
    place.builder()?.call_timeout(LONG).connect(&place.url_at(place.database.server()))
}

/// The old row is removed between the moment when the operation finds it forgotten and the moment when it takes its place.
#[tokio::test]
async fn an_operation_is_remembered_also_where_upkeep_removes_its_old_row_meanwhile() -> Result<()> {
    with_place(async |place| {
        let counters = store(place)?.counters("box", Strategy::default())?;
        counters.add("key", "op", 5).await?;
        place.advance(8 * DAY).await?;
        let schema = &place.schema;
        let mut upkeep = session(place, &format!("SELECT FROM {schema}.counter_ops FOR UPDATE")).await?;
        let remove = async {
            until("an operation that waits", async || Ok(blocked(&place.database, schema).await? == 1))
                .await?;
            tell(&mut upkeep, &format!("SELECT {schema}.counter_maintain(10); COMMIT")).await
        };
        let (counted, ()) = tokio::try_join!(counters.add("key", "op", 5), remove)?;
        assert_eq!(counted, Counted::Applied { value: Some(10) });
        assert_eq!(counters.add("key", "op", 5).await?, Counted::AlreadyApplied { value: Some(10) });
        assert_eq!(counters.value(&Key::new("key")?).await?, 10);
        Ok(())
    })
    .await
}
