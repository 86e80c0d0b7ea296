//! An order and its voucher in one commit: both are in the file, or neither is.
//!
//! A program whose own rows are in the database of its store need not choose between *voucher first* and *order first*.
//! Here every third purchase is rolled back. After each purchase, the program asks the store whether the commit
//! succeeded, as it would after a lost answer.

use std::process::ExitCode;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use storagebox::transactions::{CommitState, Receipt};
use storagebox::{Store, Taken};

type Failure = Box<dyn std::error::Error>;

const PURCHASES: u32 = 9;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Failure> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("shop.db");
    let store = Store::open(format!("sqlite:{}", file.display())).await?;
    store.setup().await?;
    let codes = (0..PURCHASES).map(|number| format!("SAVE-{number}"));
    store.bank("vouchers")?.add(codes).await?;
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&file)).await?;
    sqlx::query("CREATE TABLE orders (id TEXT PRIMARY KEY, voucher TEXT NOT NULL)").execute(&pool).await?;

    for number in 0..PURCHASES {
        let receipt = buy(&store, &pool, number).await?;
        // A program asks this if it has no answer to its COMMIT.
        println!("order-{number}: {:?}", store.settle(&receipt).await?);
        assert_eq!(store.settle(&receipt).await? == CommitState::Committed, number % 3 != 0);
    }
    let orders: i64 = sqlx::query_scalar("SELECT count(*) FROM orders").fetch_one(&pool).await?;
    let counts = store.bank("vouchers")?.counts().await?;
    println!("{orders} orders, {} vouchers given, {} left", counts.held, counts.free);
    pool.close().await;
    store.close().await?;
    Ok(if orders.unsigned_abs() == counts.held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Takes a voucher and inserts the order in one transaction. Every third transaction is rolled back.
async fn buy(store: &Store, pool: &SqlitePool, number: u32) -> Result<Receipt, Failure> {
    let order = format!("order-{number}");
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    let within = store.within(&mut *tx)?;
    let (Taken::New(held) | Taken::Again(held)) = within.bank("vouchers")?.assign(&order).await? else {
        return Err("no voucher is left".into());
    };
    let receipt = within.receipt().await?;
    drop(within);
    let insert = sqlx::query("INSERT INTO orders VALUES (?, ?)").bind(&order).bind(held.item.as_str());
    insert.execute(&mut *tx).await?;
    match number % 3 {
        0 => tx.rollback().await?,
        _ => tx.commit().await?,
    }
    Ok(receipt)
}
