//! External faults: a full disk, a clock that is set back, and bytes in a text column that are not text.

use std::sync::Arc;

use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{AssertSqlSafe, Executor, SqlitePool, query_scalar};
use storagebox_core::{
    Backend, Certainty, ClaimId, Counts, DedupId, DedupRepo, Error, ErrorKind, Hold, Item, ItemBank, ManualClock, OpId,
    Payload, Recorded, Result, Retention, Taken,
};
use storagebox_testkit::checks::{clocks, skews};

use crate::support::{Place, failed};

#[tokio::test]
async fn a_clock_set_back_expires_nothing_early_and_revives_nothing() -> Result<()> {
    let place = Place::ready().await?;
    clocks::set_back(async |ahead| {
        let clock = ManualClock::new();
        clock.advance(ahead);
        Ok(Arc::new(place.builder().clock(clock).open(place.path())?) as _)
    })
    .await
}

/// Limits the size of the file, which has the effect of a full disk.
async fn let_grow(pool: &SqlitePool, pages: i64) -> Result<()> {
    let sql = format!("PRAGMA max_page_count = {pages}");
    pool.execute(AssertSqlSafe(sql)).await.map(drop).map_err(failed)
}

async fn pages(pool: &SqlitePool) -> Result<i64> {
    query_scalar("PRAGMA page_count").fetch_one(pool).await.map_err(failed)
}

/// Returns a value of the largest size that a record may have.
fn value() -> Result<Payload> {
    Payload::new(vec![7; 256 * 1024])
}

async fn record(records: &Arc<dyn DedupRepo>, id: &str) -> Result<Recorded> {
    records.record(&DedupId::new(id)?, &value()?, &OpId::new("op")?, Retention::Forever).await
}

fn is_of_a_full_disk(error: &Error) {
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
    assert!(error.is_retryable() && error.to_string().contains("the disk is full"), "{error}");
}

/// Calls that need space fail, alone or in a shared transaction. Other calls succeed.
#[tokio::test]
async fn a_full_disk_changes_nothing() -> Result<()> {
    let place = Place::ready().await?;
    let pool = SqlitePoolOptions::new().max_connections(1).connect_lazy_with(place.options());
    let store = place.builder().from_pool(pool.clone())?;
    let (bank, records) = (store.item_bank(&"namespace".parse()?)?, store.dedup_repo(&"namespace".parse()?)?);
    bank.add(&[Item::new("one")?]).await?;
    assert!(matches!(record(&records, "first").await?, Recorded::New(_)));
    let_grow(&pool, pages(&pool).await?).await?;
    is_of_a_full_disk(&record(&records, "alone").await.unwrap_err());
    let (ada, hold) = (ClaimId::new("ada")?, Hold::Forever);
    let (one, taken, other) =
        tokio::join!(record(&records, "together"), bank.take(&ada, hold), record(&records, "beside"));
    is_of_a_full_disk(&one.unwrap_err());
    is_of_a_full_disk(&other.unwrap_err());
    assert!(matches!(taken?, Taken::New(_)), "what needs no room is done");
    let listed = records.list(None, 10).await?.entries;
    assert_eq!(listed.len(), 1, "{listed:?}");
    let_grow(&pool, i64::from(u32::MAX) - 1).await?;
    for id in ["alone", "together", "beside"] {
        assert!(matches!(record(&records, id).await?, Recorded::New(_)), "{id}");
    }
    assert_eq!(bank.counts().await?, Counts { free: 0, held: 1, spent: 0, withdrawn: 0 });
    Ok(())
}

/// A take without a transaction reads its item after the commit, so the outcome of the take is unknown.
#[tokio::test]
async fn bytes_that_are_no_text_are_corrupt() -> Result<()> {
    let place = Place::ready().await?;
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    bank.add(&[Item::new("one")?]).await?;
    let damage = "UPDATE storagebox_items SET item = CAST(x'66ff' AS TEXT)";
    place.raw().await?.execute(damage).await.map_err(failed)?;
    let ada = ClaimId::new("ada")?;
    assert_eq!(bank.take(&ada, Hold::Forever).await.unwrap_err().certainty(), Certainty::Unknown);
    for error in [
        bank.list(None, 10).await.map(drop).unwrap_err(),
        bank.get(&ada).await.map(drop).unwrap_err(),
        bank.confirm(&ada).await.map(drop).unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
    }
    Ok(())
}

/// Earlier versions stored the skew with the options of a namespace.
#[tokio::test]
async fn a_namespace_stored_with_its_skew_opens_with_any_skew() -> Result<()> {
    let place = Place::ready().await?;
    let age = async || {
        let sql = format!("UPDATE storagebox_namespaces SET options = '{}' WHERE name = 'skews'", skews::STORED_BEFORE);
        let aged = place.pool().execute(AssertSqlSafe(sql)).await.map_err(failed)?;
        assert_eq!(aged.rows_affected(), 1);
        Ok(())
    };
    skews::stored_before(async || Ok(Arc::new(place.store()?) as _), age).await
}
