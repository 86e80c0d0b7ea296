//! The bank and the carrier, which are not ours: they take a key with each request, do what it asks for once, and refuse
//! the key from then on.
//!
//! Their books are tables of their own in a SQLite file, made without storagebox, because they judge it.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Row, SqlitePool};
use storagebox::values::TokenId;

use crate::messages::Order;
use crate::names::{BANK, CARRIER};

/// How long a request waits for those of other processes.
const PATIENCE: Duration = Duration::from_secs(60);

const TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS done \
     (key TEXT PRIMARY KEY, service TEXT NOT NULL, number INTEGER NOT NULL, coins INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS requests (service TEXT NOT NULL, refused INTEGER NOT NULL)",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Bank,
    Carrier,
}

impl Service {
    /// The service that a message for this destination asks, if it asks any.
    pub(crate) fn of(destination: &str) -> Option<Self> {
        [Self::Bank, Self::Carrier].into_iter().find(|service| service.name() == destination)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bank => BANK,
            Self::Carrier => CARRIER,
        }
    }
}

/// What a service has done, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Books {
    /// Requests, each one that was refused included.
    pub(crate) requests: u64,
    /// Requests whose key was known.
    pub(crate) refused: u64,
    /// Orders that something was done for.
    pub(crate) orders: u64,
    /// How often something was done.
    pub(crate) done: u64,
    /// The coins of all that was done.
    pub(crate) coins: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Outside(SqlitePool);

impl Outside {
    pub(crate) async fn open(folder: &Path) -> sqlx::Result<Self> {
        let options = SqliteConnectOptions::from_str("sqlite:")?.filename(folder.join("outside.db"));
        let options = options.create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
        let options = options.synchronous(SqliteSynchronous::Normal).busy_timeout(PATIENCE);
        let pool = SqlitePoolOptions::new().max_connections(2).acquire_timeout(PATIENCE).connect_with(options).await?;
        for table in TABLES {
            sqlx::query(table).execute(&pool).await?;
        }
        Ok(Self(pool))
    }

    /// Asks a service to do its part for an order. Returns false if it refuses, because it knows the key.
    pub(crate) async fn request(&self, service: Service, key: &TokenId, order: Order) -> sqlx::Result<bool> {
        let mut books = self.0.begin_with("BEGIN IMMEDIATE").await?;
        let done = sqlx::query("INSERT INTO done VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
            .bind(key.as_str())
            .bind(service.name())
            .bind(signed(order.number))
            .bind(signed(order.coins))
            .execute(&mut *books);
        let is_new = done.await?.rows_affected() == 1;
        let request = sqlx::query("INSERT INTO requests VALUES (?, ?)").bind(service.name()).bind(!is_new);
        request.execute(&mut *books).await?;
        books.commit().await?;
        Ok(is_new)
    }

    pub(crate) async fn books(&self, service: Service) -> sqlx::Result<Books> {
        let requests = "SELECT count(*), coalesce(sum(refused), 0) FROM requests WHERE service = ?";
        let requests = sqlx::query(requests).bind(service.name()).fetch_one(&self.0).await?;
        let done = "SELECT count(DISTINCT number), count(*), coalesce(sum(coins), 0) FROM done WHERE service = ?";
        let done = sqlx::query(done).bind(service.name()).fetch_one(&self.0).await?;
        Ok(Books {
            requests: number(requests.try_get(0)?),
            refused: number(requests.try_get(1)?),
            orders: number(done.try_get(0)?),
            done: number(done.try_get(1)?),
            coins: number(done.try_get(2)?),
        })
    }

    /// The orders that something was done for, each with how often and with the coins of the first time.
    pub(crate) async fn orders(&self, service: Service) -> sqlx::Result<Vec<(u64, u64, u64)>> {
        let orders = "SELECT number, count(*), min(coins) FROM done WHERE service = ? GROUP BY number ORDER BY number";
        let orders = sqlx::query_as::<_, (i64, i64, i64)>(orders).bind(service.name()).fetch_all(&self.0).await?;
        Ok(orders.into_iter().map(|(order, times, coins)| (number(order), number(times), number(coins))).collect())
    }
}

/// SQLite has signed numbers only.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn number(signed: i64) -> u64 {
    u64::try_from(signed).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use storagebox_testkit::Folder;

    use super::*;

    #[tokio::test]
    async fn a_key_is_taken_once() {
        let folder = Folder::new("outside-test").unwrap();
        let (outside, order) = (Outside::open(folder.path()).await.unwrap(), Order::numbered(7));
        let (one, two) = (TokenId::new("one").unwrap(), TokenId::new("two").unwrap());
        for (key, is_new) in [(&one, true), (&one, false), (&two, true)] {
            assert_eq!(outside.request(Service::Bank, key, order).await.unwrap(), is_new);
        }
        let coins = 2 * order.coins;
        let books = Books { requests: 3, refused: 1, orders: 1, done: 2, coins };
        assert_eq!(outside.books(Service::Bank).await.unwrap(), books);
        assert_eq!(outside.books(Service::Carrier).await.unwrap(), Books::default());
        assert_eq!(outside.orders(Service::Bank).await.unwrap(), [(7, 2, order.coins)]);
    }
}
