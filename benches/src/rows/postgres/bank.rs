//! Takes through the library, and takes with the same statement without the library.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sqlx::postgres::PgConnection;
use sqlx::{query_scalar, raw_sql};
use storagebox::Retention;
use storagebox::bank::Hold;
use storagebox::parts::{Backend, ItemBank};
use storagebox_postgres::PostgresStore;

use super::client::{CONNECTIONS, Client};
use super::cluster::Database;
use crate::error::{Failure, Result};
use crate::row::Load;
use crate::rows::filled::{BANK, Filled, expect_new};
use crate::rows::side::{Caller, scattered};

pub(super) struct Bank {
    filled: Filled,
    store: PostgresStore,
    database: Database,
}

impl Bank {
    pub(super) fn new(database: Database, items: usize, combining: bool) -> Result<Self> {
        let store = PostgresStore::builder().combining(combining).connect(&database.url())?;
        Ok(Self { filled: Filled::new(store.clone(), items)?, store, database })
    }

    pub(super) fn store(&self) -> &PostgresStore {
        &self.store
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }
}

impl Deref for Bank {
    type Target = Filled;

    fn deref(&self) -> &Filled {
        &self.filled
    }
}

/// The statement with which the library takes an item.
const TAKE: &str = "SELECT storagebox.bank_take($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) WHERE storagebox.is_version_3() AND storagebox.is_alone()";

/// Takes items without the library. As in the library, each search begins at a cursor.
pub(super) struct PlainTakes {
    client: Client,
    number: i64,
    epoch: i64,
    memory: Option<i64>,
    idle: Mutex<Vec<Lane>>,
}

/// A cursor: the hash from which the next take searches, the last hash to search, and the hash where the current search
/// began.
#[derive(Clone, Copy)]
struct Lane {
    start: i64,
    till: Option<i64>,
    since: i64,
}

impl PlainTakes {
    pub(super) async fn new(database: &Database, client: &Client, load: Load) -> Result<Self> {
        let places = scattered(Load { calls: CONNECTIONS, ..load });
        let memory = match Retention::DEFAULT {
            Retention::For(memory) => Some(memory.as_micros() as i64),
            Retention::Forever => None,
        };
        Ok(Self {
            client: client.clone(),
            number: number(database).await?,
            epoch: of_namespace(database, "SELECT epoch FROM storagebox.namespaces WHERE name = $1").await?,
            memory,
            idle: Mutex::new(places.map(|place| Lane::at(place as i64)).collect()),
        })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Lane>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    fn at(place: i64) -> Self {
        Self { start: place, till: None, since: place }
    }

    fn go_on(self, place: i64, till: i64) -> Self {
        let since = if self.till == Some(till) { self.since } else { place };
        Self { start: place.wrapping_add(1), till: (place < till).then_some(till), since }
    }
}

impl Caller for PlainTakes {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        let mut connection = self.client.connection().await?;
        self.take(&mut connection, TAKE, claim).await
    }
}

impl PlainTakes {
    async fn take(&self, connection: &mut PgConnection, statement: &'static str, claim: &str) -> Result<()> {
        // There are as many cursors as connections.
        let lane = self.idle().pop().unwrap_or(Lane::at(0));
        let take = query_scalar(statement)
            .bind(self.number)
            .bind(self.epoch)
            .bind(claim)
            .bind(fastrand::i64(..))
            .bind(false)
            .bind(None::<i64>)
            .bind(self.memory)
            .bind(lane.start)
            .bind(lane.till)
            .bind(lane.since);
        let answers: Vec<Vec<String>> = take.fetch_all(connection).await?;
        let answer = answers.into_iter().next().unwrap_or_default();
        let number = |index: usize| answer.get(index).and_then(|number| number.parse::<i64>().ok());
        let (place, till) = number(2).zip(number(3)).ok_or_else(|| Failure::NotNew { answer: answer.join(" ") })?;
        self.idle().push(lane.go_on(place, till));
        Ok(())
    }
}

/// The statement with which the library takes an item in a transaction of the caller.
const TAKE_WITHIN: &str =
    "SELECT storagebox.bank_take_within($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) WHERE storagebox.is_version_3()";
/// Begins a transaction and assigns it a transaction id, as a write of the caller would do.
const BEGIN: &str = "BEGIN; SELECT txid_current()";

/// Takes items in the caller's transactions, by SQL and not through the library.
pub(super) struct PlainTakesWithin(pub(super) PlainTakes);

impl Caller for PlainTakesWithin {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        let mut connection = self.0.client.connection().await?;
        raw_sql(BEGIN).execute(&mut *connection).await?;
        self.0.take(&mut connection, TAKE_WITHIN, claim).await?;
        raw_sql("COMMIT").execute(&mut *connection).await?;
        Ok(())
    }
}

/// Takes items in transactions of the caller through the library.
pub(super) struct TakesWithin {
    pub(super) store: PostgresStore,
    pub(super) client: Client,
}

impl Caller for TakesWithin {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        let mut connection = self.client.connection().await?;
        raw_sql(BEGIN).execute(&mut *connection).await?;
        let bank = self.store.within(&mut *connection)?.item_bank(&BANK.parse()?)?;
        let taken = bank.take(&claim.as_str().try_into()?, Hold::Forever).await?;
        drop(bank);
        expect_new(&taken)?;
        raw_sql("COMMIT").execute(&mut *connection).await?;
        Ok(())
    }
}

/// Returns the number that stands for the bank's namespace in the bank's rows.
pub(super) async fn number(database: &Database) -> Result<i64> {
    of_namespace(database, "SELECT namespace FROM storagebox.namespaces WHERE name = $1").await
}

async fn of_namespace(database: &Database, sql: &'static str) -> Result<i64> {
    let client = Client::new(database.options()?)?;
    let mut connection = client.connection().await?;
    Ok(query_scalar(sql).bind(BANK).fetch_one(&mut *connection).await?)
}
