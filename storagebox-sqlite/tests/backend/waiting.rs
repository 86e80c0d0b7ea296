//! Calls that wait for another writer: a call that does not begin within its timeout is not made.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{Connection, SqliteConnection, raw_sql};
use storagebox_core::{
    Backend, Certainty, Change, ClaimId, ClaimState, Confirmed, Counter, End, ErrorKind, Hold, ItemBank, Result,
    Strategy, Taken,
};
use tokio::task::{JoinSet, yield_now};
use tokio::time::sleep;

use crate::support::{Place, failed};

/// Runs a test while another connection is writing to the file.
async fn with_a_writer(
    test: impl AsyncFnOnce(&Place, sqlx::Transaction<'_, sqlx::Sqlite>) -> Result<()>,
) -> Result<()> {
    let place = Place::ready().await?;
    let mut other: SqliteConnection = place.raw().await?;
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    test(&place, transaction).await
}

#[tokio::test]
async fn a_call_that_cannot_begin_in_time_is_never_made() -> Result<()> {
    with_a_writer(async |place, other| {
        for combining in [true, false] {
            let builder = place.builder().combining(combining).call_timeout(Duration::from_millis(100));
            let counters = builder.open(place.path())?.counter(&"namespace".parse()?, Strategy::default())?;
            let error = counters
                .apply(&"key".parse().unwrap(), &Change::new(format!("{combining}").parse().unwrap(), 1))
                .await
                .unwrap_err();
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied));
            assert!(error.is_retryable() && !error.to_string().contains("locked"), "{error}");
        }
        other.rollback().await.map_err(failed)?;
        let counters = place.store()?.counter(&"namespace".parse()?, Strategy::default())?;
        // If the refused calls were still waiting, they would be made before this one.
        let _ = counters.apply(&"key".parse()?, &Change::new("last".parse()?, 5)).await?;
        assert_eq!(counters.value(&"key".try_into()?).await?, 5);
        Ok(())
    })
    .await
}

/// A take of an open bank is first tried without a transaction. If the timeout ends during this attempt, the outcome is
/// unknown, and the test repeats the take.
#[tokio::test]
async fn a_take_that_cannot_begin_in_time_takes_nothing() -> Result<()> {
    let place = Place::ready().await?;
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    bank.add(&["a".try_into()?]).await?;
    let mut other = place.raw().await?;
    let brief = place.builder().call_timeout(Duration::from_millis(100)).open(place.path())?;
    let hasty = brief.item_bank(&"namespace".parse()?)?;
    for _ in 0..50 {
        if hasty.counts().await.is_ok() {
            break;
        }
    }
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let mut error = hasty.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
    for _ in 0..50 {
        if error.kind() != ErrorKind::OutcomeUnknown {
            break;
        }
        error = hasty.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
    }
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied));
    transaction.rollback().await.map_err(failed)?;
    // This client has a longer timeout.
    assert_eq!(bank.take(&"bob".parse()?, Hold::Forever).await?.item(), Some(&"a".try_into()?));
    Ok(())
}

#[tokio::test]
async fn reads_do_not_wait_for_a_writer() -> Result<()> {
    let place = Place::ready().await?;
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    bank.add(&["a".try_into()?]).await?;
    let mut other = place.raw().await?;
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    assert_eq!(bank.counts().await?.free, 1);
    transaction.rollback().await.map_err(failed)
}

#[tokio::test]
async fn waiting_calls_are_made_when_the_file_is_free() -> Result<()> {
    with_a_writer(async |place, other| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        let mut calls = JoinSet::new();
        for number in 0..32 {
            let bank = Arc::clone(&bank);
            calls.spawn(async move {
                bank.add(&[format!("item-{number}").try_into()?]).await?;
                bank.take(&format!("claim-{number}").parse()?, Hold::Forever).await
            });
        }
        sleep(Duration::from_millis(50)).await;
        other.rollback().await.map_err(failed)?;
        let taken = calls.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        assert!(taken.iter().all(|taken| matches!(taken, Taken::New(_))), "{taken:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn setup_waits_for_another_writer() -> Result<()> {
    let place = Place::bare()?;
    let options = place.options().create_if_missing(true);
    let mut other = sqlx::ConnectOptions::connect(&options).await.map_err(failed)?;
    let transaction = other.begin_with("BEGIN EXCLUSIVE").await.map_err(failed)?;
    let brief = place.builder().call_timeout(Duration::from_millis(100)).open(place.path())?;
    assert_eq!(brief.setup().await.unwrap_err().kind(), ErrorKind::Contention);
    let store = place.store()?;
    let setup = tokio::spawn(async move { store.setup().await });
    sleep(Duration::from_millis(20)).await;
    transaction.rollback().await.map_err(failed)?;
    setup.await.map_err(failed)?
}

/// Polls a call until it only waits for a connection or for the file. Returns an error if the call ends.
async fn waits<T>(mut call: Pin<&mut impl Future<Output = T>>) -> Result<()> {
    for _ in 0..20 {
        tokio::select! {
            biased;
            _ = call.as_mut() => return Err(failed("it did not wait")),
            () = yield_now() => {}
        }
    }
    Ok(())
}

/// A call of `confirm` locks the file before it reads the clock.
#[tokio::test]
async fn a_hold_that_ends_while_its_confirm_waits_is_expired() -> Result<()> {
    let (place, minute) = (Place::ready().await?, Duration::from_secs(60));
    let (bank, claim) = (place.store()?.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
    bank.add(&["a".try_into()?]).await?;
    let _ = bank.take(&claim, Hold::For(minute)).await?;
    let mut other = place.raw().await?;
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let mut confirm = pin!(bank.confirm(&claim));
    waits(confirm.as_mut()).await?;
    place.clock.advance(2 * minute);
    transaction.rollback().await.map_err(failed)?;
    assert_eq!(confirm.await?, Confirmed::Ended(End::Expired));
    Ok(())
}

/// Adds an item, which a claim of this name then holds for a minute.
async fn held_for_a_minute(place: &Place, claim: &ClaimId) -> Result<()> {
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    bank.add(&["a".try_into()?]).await?;
    bank.take(claim, Hold::For(Duration::from_secs(60))).await.map(drop)
}

/// The first read of a process waits for the writer. Regression: the clock was read before that.
#[tokio::test]
async fn a_hold_that_ends_while_its_get_waits_is_expired() -> Result<()> {
    let (place, claim) = (Place::ready().await?, ClaimId::new("ada")?);
    held_for_a_minute(&place, &claim).await?;
    let bank = place.store()?.item_bank(&"namespace".parse()?)?;
    let mut other = place.raw().await?;
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let mut get = pin!(bank.get(&claim));
    waits(get.as_mut()).await?;
    place.clock.advance(Duration::from_secs(120));
    transaction.rollback().await.map_err(failed)?;
    assert_eq!(get.await?, ClaimState::Ended(End::Expired));
    Ok(())
}

/// Regression: the clock was read before the wait.
#[tokio::test]
async fn a_hold_that_ends_while_a_read_waits_for_a_pool_is_expired() -> Result<()> {
    let (place, claim) = (Place::ready().await?, ClaimId::new("ada")?);
    held_for_a_minute(&place, &claim).await?;
    let pool = SqlitePoolOptions::new().max_connections(1).connect_lazy_with(place.options());
    let bank = place.builder().from_pool(pool.clone())?.item_bank(&"namespace".parse()?)?;
    assert_eq!(bank.counts().await?.held, 1);
    let taken = pool.acquire().await.map_err(failed)?;
    let mut counts = pin!(bank.counts());
    waits(counts.as_mut()).await?;
    place.clock.advance(Duration::from_secs(120));
    drop(taken);
    assert_eq!(counts.await?.free, 1);
    Ok(())
}

/// The first read in a deferred transaction locks the file. Regression: the clock was read before that.
#[tokio::test]
async fn a_hold_that_ends_while_a_read_waits_in_a_transaction_is_expired() -> Result<()> {
    let (place, claim) = (Place::ready().await?, ClaimId::new("ada")?);
    held_for_a_minute(&place, &claim).await?;
    let store = place.store()?;
    assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.held, 1);
    let (mut caller, mut other) = (place.raw().await?, place.raw().await?);
    raw_sql("PRAGMA busy_timeout = 3600000; BEGIN").execute(&mut caller).await.map_err(failed)?;
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let bank = store.within(&mut caller)?.item_bank(&"namespace".parse()?)?;
    let mut counts = pin!(bank.counts());
    waits(counts.as_mut()).await?;
    place.clock.advance(Duration::from_secs(120));
    transaction.rollback().await.map_err(failed)?;
    assert_eq!(counts.await?.free, 1);
    Ok(())
}
