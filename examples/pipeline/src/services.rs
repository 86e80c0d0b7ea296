//! The bank and the carrier, which are external services. Each request has a key. A service serves the first request
//! with a key, and refuses later requests with the same key.
//!
//! The requests to the services are stored in a SQLite file, without storagebox, because the audit of storagebox uses
//! them.

use std::path::Path;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use storagebox::values::TokenId;

use crate::stage::Order;

/// The destination of a message that asks the bank to book a payment.
pub(crate) const BANK: &str = "bank";
/// The destination of a message that asks the carrier to fetch a parcel.
pub(crate) const CARRIER: &str = "carrier";

/// How long a request waits while another process writes to the SQLite file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS requests (
    service TEXT NOT NULL, key TEXT NOT NULL, number INTEGER NOT NULL, coins INTEGER NOT NULL, refused INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS served ON requests (key) WHERE NOT refused;
";

/// Stores a request. The request is stored as refused if an earlier request has the same key.
const REQUEST: &str = "
INSERT INTO requests
SELECT ?1, ?2, ?3, ?4, EXISTS (SELECT 1 FROM requests WHERE key = ?2 AND NOT refused)
";

/// Counts the requests to the service `?1`. `?2` is the number of orders that were placed.
const BOOKS: &str = "
SELECT count(*), sum(refused), sum(NOT refused), count(DISTINCT number) FILTER (WHERE number < ?2),
    count(DISTINCT number) FILTER (WHERE number >= ?2), sum((NOT refused) * coins),
    sum((NOT refused) * (coins <> 5 + number % 7))
FROM requests WHERE service = ?1 GROUP BY service
";

/// The totals of the requests to one service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    pub(crate) requests: u32,
    pub(crate) refused: u32,
    pub(crate) served: u32,
    /// The number of orders that were served at least once.
    pub(crate) orders: u32,
    /// The number of orders that were served but never placed.
    pub(crate) unknown: u32,
    /// The coins of all requests that were served.
    pub(crate) coins: u32,
    /// The number of requests that were served at a price other than the price of the order.
    pub(crate) mispriced: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Services(SqlitePool);

impl Services {
    pub(crate) async fn open(file: &Path) -> sqlx::Result<Self> {
        let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
        let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Normal);
        let pool = SqlitePoolOptions::new().max_connections(2).acquire_timeout(BUSY_TIMEOUT);
        let pool = pool.connect_with(options.busy_timeout(BUSY_TIMEOUT)).await?;
        sqlx::raw_sql(SCHEMA).execute(&pool).await?;
        Ok(Self(pool))
    }

    pub(crate) async fn request(&self, service: &str, key: &TokenId, order: Order) -> sqlx::Result<()> {
        let request = sqlx::query(REQUEST).bind(service).bind(key.as_str()).bind(order.number).bind(order.coins);
        request.execute(&self.0).await.map(drop)
    }

    pub(crate) async fn books(&self, service: &str, placed: u32) -> sqlx::Result<Books> {
        let books = sqlx::query_as(BOOKS).bind(service).bind(placed).fetch_optional(&self.0).await?;
        let Some((requests, refused, served, orders, unknown, coins, mispriced)) = books else {
            return Ok(Books::default());
        };
        Ok(Books { requests, refused, served, orders, unknown, coins, mispriced })
    }
}

#[cfg(test)]
mod tests {
    use storagebox_testkit::Folder;

    use super::*;

    #[tokio::test]
    async fn a_second_request_with_the_same_key_is_refused() {
        let folder = Folder::new("services-test").unwrap();
        let (services, order) = (Services::open(&folder.path().join("books")).await.unwrap(), Order::numbered(7));
        let mut mispriced = Order::numbered(9);
        mispriced.coins = 1;
        for (key, order) in [("one", order), ("one", order), ("two", order), ("three", mispriced)] {
            services.request(BANK, &TokenId::new(key).unwrap(), order).await.unwrap();
        }
        let coins = 2 * order.coins + 1;
        let books = Books { requests: 4, refused: 1, served: 3, orders: 1, unknown: 1, coins, mispriced: 1 };
        assert_eq!(services.books(BANK, 8).await.unwrap(), books);
        assert_eq!(services.books(CARRIER, 8).await.unwrap(), Books::default());
    }
}
