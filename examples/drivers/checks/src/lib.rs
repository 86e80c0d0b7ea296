//! The check that every example of a driver must pass. It runs on a PostgreSQL that ends with the test.

use std::error::Error;

use storagebox_core::{Backend, ClaimState, Counts, Hold, ItemBank, Taken};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::runtime::Runtime;
use tokio_postgres::{NoTls, connect};

/// The result of an order: its voucher, or `None` if no voucher is left.
pub type Ordered = Result<Option<String>, Box<dyn Error>>;

/// A program that places orders with one of the drivers.
#[allow(async_fn_in_trait, reason = "each test awaits one call at a time")]
pub trait Shop: Sized {
    /// Connects to the database with the table of orders.
    async fn open(url: &str) -> Result<Self, Box<dyn Error>>;

    /// Places an order for a customer.
    async fn order(&mut self, customer: &str) -> Ordered;
}

/// The program's table of orders, which refuses a voucher for the customer `mallory`, so that this order fails halfway.
const ORDERS: &str = "CREATE TABLE orders (
    customer text PRIMARY KEY,
    voucher text CHECK (voucher IS NULL OR customer <> 'mallory')
)";

/// Starts a server, and checks that the program commits an order and its voucher together, or neither.
pub fn check<S: Shop>() -> Result<(), Box<dyn Error>> {
    let server = Postgres::start(&Settings::quick())?;
    Runtime::new()?.block_on(check_at::<S>(&server.url()))
}

async fn check_at<S: Shop>(url: &str) -> Result<(), Box<dyn Error>> {
    let (observer, connection) = connect(url, NoTls).await?;
    tokio::spawn(connection);
    observer.batch_execute(ORDERS).await?;
    let store = PostgresStore::connect(url)?;
    store.setup().await?;
    let bank = store.item_bank(&"vouchers".parse()?)?;
    bank.add(&["SAVE-10".parse()?, "SAVE-20".parse()?]).await?;

    let mut shop = S::open(url).await?;
    let ada = shop.order("ada").await?.ok_or("a voucher for ada")?;
    assert!(matches!(bank.get(&"ada".parse()?).await?, ClaimState::Held(held) if held.item.as_str() == ada));
    assert!(shop.order("mallory").await.is_err(), "the order of mallory");
    assert_eq!(bank.get(&"mallory".parse()?).await?, ClaimState::Unknown);
    assert_eq!(bank.counts().await?, Counts { free: 1, held: 1, spent: 0, withdrawn: 0 });

    observer.batch_execute("BEGIN; SELECT FROM storagebox.assign('vouchers', 'eve')").await?;
    assert!(shop.order("bob").await.is_err(), "an order while another one holds the last voucher");
    observer.batch_execute("ROLLBACK").await?;
    assert!(shop.order("bob").await?.is_some_and(|voucher| voucher != ada), "another voucher for bob");
    assert_eq!(shop.order("cleo").await?, None);
    let orders = observer.query_one("SELECT count(*), count(voucher) FROM orders", &[]).await?;
    assert_eq!((orders.get(0), orders.get(1)), (2_i64, 2_i64));
    assert!(
        matches!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::Again(held) if held.item.as_str() == ada)
    );
    Ok(())
}
