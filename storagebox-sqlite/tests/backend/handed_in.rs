//! Pools that the caller has.

use std::time::Duration;

use sqlx::sqlite::{SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Executor};
use storagebox_core::{Backend, BackendExt, ErrorKind, ItemBank, ItemBankExt, Result, Taken};
use storagebox_sqlite::{SqliteStore, Synchronous};

use crate::support::{Place, failed};

#[tokio::test]
async fn it_works_beside_the_callers_own_tables_and_stays_open() -> Result<()> {
    let place = Place::bare()?;
    let pool = SqlitePoolOptions::new()
        .max_connections(2)
        .connect_lazy_with(place.options().create_if_missing(true));
    pool.execute("CREATE TABLE versions (mine)").await.map_err(failed)?;
    let store = SqliteStore::from_pool(pool.clone())?;
    store.setup().await?;
    store.bank("box")?.add(&["a".try_into()?]).await?;
    assert!(matches!(store.bank("box")?.assign("ada").await?, Taken::New(_)));
    store.close().await?;
    pool.execute("INSERT INTO versions VALUES (1)").await.map_err(failed)?;
    assert_eq!(store.bank("box")?.counts().await?.held, 1);
    Ok(())
}

#[tokio::test]
async fn one_that_is_less_durable_is_refused_unless_that_is_asked_for() -> Result<()> {
    let place = Place::ready().await?;
    let options = place.options().synchronous(SqliteSynchronous::Normal);
    let pool = SqlitePoolOptions::new().connect_lazy_with(options);
    let error = SqliteStore::from_pool(pool.clone())?.bank("box")?.assign("ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("PRAGMA synchronous"), "{error}");
    let store = SqliteStore::builder().synchronous(Synchronous::Normal).from_pool(pool)?;
    assert_eq!(store.bank("box")?.assign("ada").await?, Taken::Empty);
    Ok(())
}

#[tokio::test]
async fn one_that_only_reads_is_denied() -> Result<()> {
    let place = Place::ready().await?;
    place.store()?.bank("box")?.add(&["a".try_into()?]).await?;
    let pool = SqlitePoolOptions::new().connect_lazy_with(place.options().read_only(true));
    let error = SqliteStore::from_pool(pool)?.bank("box")?.assign("ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    Ok(())
}

/// Nobody gives a connection back: the call is not made, and says so.
#[tokio::test]
async fn one_without_a_free_connection_is_contention() -> Result<()> {
    let place = Place::ready().await?;
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_millis(1_000))
        .connect_lazy_with(place.options().disable_statement_logging());
    let _taken = pool.acquire().await.map_err(failed)?;
    let bank = SqliteStore::from_pool(pool)?.bank("box")?;
    for error in [bank.assign("ada").await.unwrap_err(), bank.counts().await.unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
    }
    Ok(())
}
