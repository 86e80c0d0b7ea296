//! Stores on a pool of the caller.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use sqlx::sqlite::{SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Executor, SqlitePool, query_scalar};
use storagebox_core::{Backend, Certainty, ClaimId, ErrorKind, Hold, ItemBank, Result, Taken};
use storagebox_sqlite::{SqliteStore, Synchronous};

use crate::support::{Place, failed};

#[tokio::test]
async fn a_pool_with_other_tables_works_and_stays_open() -> Result<()> {
    let place = Place::bare()?;
    let pool = SqlitePoolOptions::new().max_connections(2).connect_lazy_with(place.options().create_if_missing(true));
    pool.execute("CREATE TABLE versions (mine)").await.map_err(failed)?;
    let store = SqliteStore::from_pool(pool.clone())?;
    store.setup().await?;
    store.item_bank(&"namespace".parse()?)?.add(&["a".try_into()?]).await?;
    assert!(matches!(
        store.item_bank(&"namespace".parse()?)?.take(&"ada".parse()?, Hold::Forever).await?,
        Taken::New(_)
    ));
    store.close().await?;
    pool.execute("INSERT INTO versions VALUES (1)").await.map_err(failed)?;
    assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.held, 1);
    Ok(())
}

#[tokio::test]
async fn a_pool_less_durable_than_configured_is_refused() -> Result<()> {
    let place = Place::ready().await?;
    let options = place.options().synchronous(SqliteSynchronous::Normal);
    let pool = SqlitePoolOptions::new().connect_lazy_with(options);
    let error = SqliteStore::from_pool(pool.clone())?
        .item_bank(&"namespace".parse()?)?
        .take(&"ada".parse().unwrap(), Hold::Forever)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("PRAGMA synchronous"), "{error}");
    let store = SqliteStore::builder().synchronous(Synchronous::Normal).from_pool(pool)?;
    assert_eq!(store.item_bank(&"namespace".parse()?)?.take(&"ada".parse()?, Hold::Forever).await?, Taken::Empty);
    Ok(())
}

#[tokio::test]
async fn a_read_only_pool_is_denied() -> Result<()> {
    let place = Place::ready().await?;
    place.store()?.item_bank(&"namespace".parse()?)?.add(&["a".try_into()?]).await?;
    let pool = SqlitePoolOptions::new().connect_lazy_with(place.options().read_only(true));
    let store = SqliteStore::from_pool(pool)?;
    let take = store.item_bank(&"namespace".parse()?)?.take(&"ada".parse()?, Hold::Forever).await;
    for error in [take.unwrap_err(), store.ping().await.unwrap_err(), store.setup().await.unwrap_err()] {
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Denied, Certainty::NotApplied), "{error}");
    }
    Ok(())
}

/// The only connection of the pool is in use until the call times out, so the call is not made.
#[tokio::test]
async fn a_call_without_a_free_pool_connection_is_contention() -> Result<()> {
    let place = Place::ready().await?;
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_millis(1_000))
        .connect_lazy_with(place.options().disable_statement_logging());
    let _taken = pool.acquire().await.map_err(failed)?;
    let bank = SqliteStore::from_pool(pool)?.item_bank(&"namespace".parse()?)?;
    for error in
        [bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err(), bank.counts().await.unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
    }
    Ok(())
}

/// Creates a pool of one connection with a commit hook. A commit fails if the hook returns `false`.
fn hooked(place: &Place, hook: impl Fn() -> bool + Send + Sync + 'static) -> SqlitePool {
    let hook = Arc::new(hook);
    let options = SqlitePoolOptions::new().max_connections(1).after_connect(move |connection, _| {
        let hook = Arc::clone(&hook);
        Box::pin(async move {
            connection.lock_handle().await?.set_commit_hook(move || hook());
            Ok(())
        })
    });
    options.connect_lazy_with(place.options().create_if_missing(true))
}

#[tokio::test]
async fn a_pool_works_after_a_failed_commit() -> Result<()> {
    let (place, fails) = (Place::ready().await?, Arc::new(AtomicBool::new(false)));
    let hook = Arc::clone(&fails);
    let pool = hooked(&place, move || !hook.load(Ordering::SeqCst));
    let bank = SqliteStore::from_pool(pool)?.item_bank(&"namespace".parse()?)?;
    bank.add(&["a".try_into()?]).await?;
    fails.store(true, Ordering::SeqCst);
    assert_eq!(bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    fails.store(false, Ordering::SeqCst);
    assert!(matches!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::New(_)));
    Ok(())
}

/// Upkeep commits its deletion, and then fails to truncate the log.
#[tokio::test]
async fn upkeep_that_fails_after_its_deletion_is_unknown() -> Result<()> {
    let (place, closes) = (Place::ready().await?, Arc::new(OnceLock::<SqlitePool>::new()));
    let hook = Arc::clone(&closes);
    let pool = hooked(&place, move || {
        if let Some(pool) = hook.get() {
            drop(pool.close());
        }
        true
    });
    let store = place.builder().from_pool(pool.clone())?;
    let _ = store.item_bank(&"namespace".parse()?)?.release(&ClaimId::new("ada")?).await?;
    place.clock.advance(Duration::from_secs(9 * 24 * 3_600));
    closes.set(pool).map_err(|_| failed("it was set before"))?;
    let error = store.maintain(10).await.unwrap_err();
    assert_eq!(error.certainty(), Certainty::Unknown, "{error}");
    assert_eq!(place.store()?.maintain(10).await?.deleted, 0);
    Ok(())
}

/// A transaction of the caller is open, and the connections of the pool wait an hour for its end.
#[tokio::test]
async fn ping_and_checkpoint_wait_for_no_transaction_of_the_caller() -> Result<()> {
    let place = Place::ready().await?;
    let options = place.options().busy_timeout(Duration::from_secs(3_600));
    let pool = SqlitePoolOptions::new().max_connections(1).connect_lazy_with(options);
    let store = place.builder().from_pool(pool.clone())?;
    store.ping().await?;
    let mut other = place.raw().await?;
    other.execute("BEGIN IMMEDIATE").await.map_err(failed)?;
    store.ping().await?;
    other.execute("ROLLBACK; BEGIN; SELECT count(*) FROM storagebox_store").await.map_err(failed)?;
    store.maintain(10).await?;
    let waits: i64 = query_scalar("PRAGMA busy_timeout").fetch_one(&pool).await.map_err(failed)?;
    assert_eq!(waits, 3_600_000);
    Ok(())
}

/// Each ping is dropped after another number of polls.
#[tokio::test]
async fn a_dropped_ping_leaves_the_busy_timeout_of_the_pool_as_it_was() -> Result<()> {
    let place = Place::ready().await?;
    let options = place.options().busy_timeout(Duration::from_secs(7));
    let pool = SqlitePoolOptions::new().max_connections(1).connect_lazy_with(options);
    let store = place.builder().from_pool(pool.clone())?;
    for polls in 0..200 {
        let over = async {
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            pinged = store.ping() => pinged?,
            () = over => {}
        }
        let waits: i64 = query_scalar("PRAGMA busy_timeout").fetch_one(&pool).await.map_err(failed)?;
        assert_eq!(waits, 7_000, "after {polls} polls");
    }
    Ok(())
}

/// The commit of the setup takes longer than the call timeout.
#[tokio::test]
async fn a_setup_that_times_out_during_its_commit_is_unknown() -> Result<()> {
    let place = Place::bare()?;
    let (goes_on, waits) = mpsc::channel::<()>();
    let waits = Mutex::new(waits);
    let pool = hooked(&place, move || waits.lock().is_ok_and(|waits| waits.recv().is_err()));
    let store = place.builder().call_timeout(Duration::from_secs(2)).from_pool(pool)?;
    let error = store.setup().await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown));
    drop(goes_on);
    while place.store()?.ping().await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
