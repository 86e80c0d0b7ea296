//! The store, not the caller, decides how long ended operations are remembered.

use std::sync::Arc;

use storagebox_core::{Backend, Counts, ItemBank, Result, Retention};
use storagebox_postgres::{PostgresBuilder, PostgresStore};
use storagebox_testkit::checks::memory;

use crate::scene::{count, owner_url, with_database, with_place};
use crate::structure::contents;
use crate::support::{Database, moved_clock, run};

const SCHEMA: &str = "elsewhere";

fn builder() -> Result<PostgresBuilder> {
    PostgresStore::builder().schema(SCHEMA)
}

/// Returns a store that remembers for ever. The store has one fence of each kind, and each fence is older than a year.
async fn fenced_for_ever(database: &Arc<Database>) -> Result<PostgresStore> {
    let store = builder()?.remember(Retention::Forever).connect(&owner_url(database, "for-ever"))?;
    store.setup().await?;
    memory::fence_each_kind(&store).await?;
    run(database.owner(), moved_clock(SCHEMA, memory::LONG_AGO)).await?;
    Ok(store)
}

/// Regression: upkeep by a client without a `remember` setting removed fences that were to last for ever.
#[test]
fn upkeep_uses_the_remember_setting_of_the_store() -> Result<()> {
    with_database(async |database| {
        let store = fenced_for_ever(database).await?;
        let says_nothing = builder()?.connect(&owner_url(database, "says-nothing"))?;
        memory::assert_fenced(&says_nothing).await?;
        memory::assert_fenced(&store).await?;
        Ok(())
    })
}

/// Regression: a URL with another `remember` setting ended fences that another client had made to last for ever.
#[test]
fn store_with_another_remember_setting_is_refused() -> Result<()> {
    with_database(async |database| {
        fenced_for_ever(database).await?;
        let before = contents(database, SCHEMA).await?;
        let url = format!("{}&schema={SCHEMA}&remember=1s", owner_url(database, "another"));
        memory::another_is_refused(|| PostgresStore::connect(&url)).await?;
        assert_eq!(contents(database, SCHEMA).await?, before);
        builder()?.remember(Retention::Forever).connect(&owner_url(database, "same"))?.ping().await
    })
}

/// The default is seven days, so a URL with `remember=7d` is also accepted.
#[test]
fn schema_without_a_remember_setting_remembers_seven_days() -> Result<()> {
    with_place(async |place| {
        let kept = format!("SELECT memory FROM {}.store", place.schema);
        assert_eq!(count(&place.database, &kept).await?, 7 * 24 * 3_600 * 1_000_000);
        let store = place.builder()?.remember(Retention::DEFAULT).connect(&place.database.url())?;
        store.ping().await?;
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?, Counts::default());
        Ok(())
    })
}
