//! Calls within a transaction of the caller, beyond the suite.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool, raw_sql};
use storagebox_core::{Backend, Counter, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_sqlite::SqliteStore;

use crate::support::{Place, failed};

async fn begun(place: &Place, begin: &'static str) -> Result<SqliteConnection> {
    let mut connection = place.raw().await?;
    tell(&mut connection, begin).await?;
    Ok(connection)
}

async fn tell(connection: &mut SqliteConnection, sql: &'static str) -> Result<()> {
    raw_sql(sql).execute(connection).await.map(drop).map_err(failed)
}

async fn filled(place: &Place, items: usize) -> Result<SqliteStore> {
    let store = place.store()?;
    store.setup().await?;
    let items = (0..items).map(|number| Item::new(format!("item-{number}"))).collect::<Result<Vec<_>>>()?;
    store.item_bank(&"bank".parse()?)?.add(&items).await?;
    Ok(store)
}

async fn take(store: &SqliteStore, connection: &mut SqliteConnection, claim: &str) -> Result<Taken> {
    store.within(connection)?.item_bank(&"bank".parse()?)?.take(&claim.parse()?, Hold::Forever).await
}

async fn free(store: &SqliteStore) -> Result<u64> {
    Ok(store.item_bank(&"bank".parse()?)?.counts().await?.free)
}

/// The first joined call turns a deferred transaction into one that has locked the file for writing.
#[tokio::test]
async fn a_deferred_transaction_is_made_immediate() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 2).await?;
    let mut connection = begun(&place, "BEGIN").await?;
    assert!(matches!(take(&store, &mut connection, "first").await?, Taken::New(_)));
    let mut other = place.options().busy_timeout(std::time::Duration::ZERO).connect().await.map_err(failed)?;
    assert!(tell(&mut other, "BEGIN IMMEDIATE").await.is_err(), "another writes beside it");
    tell(&mut connection, "COMMIT").await?;
    assert_eq!(free(&store).await?, 1);
    Ok(())
}

/// Another connection writes after the deferred transaction has read.
#[tokio::test]
async fn a_deferred_transaction_is_refused_after_a_write_outside_it() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 2).await?;
    let mut connection = begun(&place, "BEGIN; SELECT count(*) FROM storagebox_items").await?;
    let _ = store.item_bank(&"bank".parse()?)?.take(&"other".parse()?, Hold::Forever).await?;
    let error = take(&store, &mut connection, "first").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
    assert!(error.message().contains("BEGIN IMMEDIATE"), "{error}");
    tell(&mut connection, "ROLLBACK").await?;
    assert_eq!(free(&store).await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_connection_to_another_file_is_refused() -> Result<()> {
    let (place, other) = (Place::bare()?, Place::bare()?);
    let store = filled(&place, 1).await?;
    filled(&other, 1).await?;
    let mut connection = begun(&other, "BEGIN IMMEDIATE").await?;
    let of_pool = SqliteStore::from_pool(SqlitePool::connect_lazy_with(place.options()))?;
    for store in [store, of_pool] {
        let error = take(&store, &mut connection, "first").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn a_connection_of_another_driver_is_refused() -> Result<()> {
    let place = Place::bare()?;
    let error = filled(&place, 1).await?.within(&mut String::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    Ok(())
}

/// Only foreign keys prevent the caller from committing half of a call.
#[tokio::test]
async fn a_connection_that_checks_no_foreign_keys_is_refused() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 1).await?;
    let mut connection = place.options().foreign_keys(false).connect().await.map_err(failed)?;
    tell(&mut connection, "BEGIN IMMEDIATE").await?;
    let error = take(&store, &mut connection, "first").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    Ok(())
}

/// The namespace was opened before, by a call on a connection that is durable enough.
#[tokio::test]
async fn a_connection_that_commits_less_durably_is_refused() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 1).await?;
    let mut connection = begun(&place, "PRAGMA synchronous = OFF; BEGIN IMMEDIATE").await?;
    let error = take(&store, &mut connection, "first").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    Ok(())
}

/// Later calls in the transaction succeed.
#[tokio::test]
async fn a_rolled_back_savepoint_undoes_its_call() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 1).await?;
    let mut connection = begun(&place, "BEGIN IMMEDIATE; SAVEPOINT one").await?;
    assert!(matches!(take(&store, &mut connection, "first").await?, Taken::New(_)));
    tell(&mut connection, "ROLLBACK TO one").await?;
    assert!(matches!(take(&store, &mut connection, "second").await?, Taken::New(_)));
    tell(&mut connection, "COMMIT").await?;
    assert!(matches!(take_alone(&store, "second").await?, Taken::Again(_)));
    assert_eq!(take_alone(&store, "first").await?, Taken::Empty);
    Ok(())
}

/// A call is dropped at each of its first polls. The caller's next statement then commits by itself.
#[tokio::test]
async fn a_dropped_call_begins_no_transaction_on_the_connection() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 1).await?;
    let (mut connection, mut look) = (place.raw().await?, place.raw().await?);
    tell(&mut connection, "CREATE TABLE orders (id INTEGER PRIMARY KEY)").await?;
    for polls in 0..20_i64 {
        {
            let mut call = pin!(take(&store, &mut connection, "first"));
            for _ in 0..polls {
                if poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        tell(&mut connection, "INSERT INTO orders DEFAULT VALUES").await?;
        let orders: i64 =
            sqlx::query_scalar("SELECT count(*) FROM orders").fetch_one(&mut look).await.map_err(failed)?;
        assert_eq!(orders, polls + 1);
    }
    Ok(())
}

async fn take_alone(store: &SqliteStore, claim: &str) -> Result<Taken> {
    store.item_bank(&"bank".parse()?)?.take(&claim.parse()?, Hold::Forever).await
}

/// Uses a pool of sqlx and its transactions, as an application would.
#[tokio::test]
async fn an_order_and_its_voucher_are_committed_together() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 2).await?;
    let mut setup = place.raw().await?;
    tell(&mut setup, "CREATE TABLE orders (id TEXT PRIMARY KEY)").await?;
    setup.close().await.map_err(failed)?;
    let pool = place.pool();
    for (order, is_committed) in [("one", true), ("other", false)] {
        let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        sqlx::query("INSERT INTO orders VALUES (?)").bind(order).execute(&mut *tx).await.map_err(failed)?;
        assert!(matches!(take(&store, &mut tx, order).await?, Taken::New(_)));
        match is_committed {
            true => tx.commit().await.map_err(failed)?,
            false => tx.rollback().await.map_err(failed)?,
        }
    }
    let orders: i64 = sqlx::query_scalar("SELECT count(*) FROM orders").fetch_one(&pool).await.map_err(failed)?;
    assert_eq!((orders, free(&store).await?), (1, 1));
    Ok(())
}

/// After a failed call, the transaction accepts no other call and no commit.
#[tokio::test]
async fn a_call_after_a_failed_call_of_a_transaction_is_refused() -> Result<()> {
    let place = Place::bare()?;
    let store = filled(&place, 1).await?;
    let other = storagebox_core::Strategy::Atomic;
    let name = "counters".parse()?;
    store.counter(&name, storagebox_core::Strategy::default())?.value(&"key".parse()?).await?;
    let mut connection = begun(&place, "BEGIN IMMEDIATE").await?;
    let failed = store.within(&mut connection)?.counter(&name, other)?.value(&"key".parse()?).await;
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Misconfigured);
    let error = take(&store, &mut connection, "first").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
    assert!(error.message().contains("roll the transaction back"), "{error}");
    assert!(tell(&mut connection, "COMMIT").await.is_err(), "it can be committed");
    tell(&mut connection, "ROLLBACK").await?;
    assert_eq!(free(&store).await?, 1);
    Ok(())
}
