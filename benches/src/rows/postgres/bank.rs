//! Takes through the library, and the same statement without it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::query_scalar;
use storagebox::{Backend as _, BankAdmin, BoxName, ClaimId, Hold, Retention, Taken};
use storagebox_postgres::PostgresStore;

use super::client::{CONNECTIONS, Client};
use super::cluster::Database;
use super::template::{BANK, these};
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared};
use crate::rows::side::{Caller, ids, prepared, scattered};

/// A bank that is as full before each slice as it was at first.
pub(super) struct Bank {
    bank: Arc<dyn BankAdmin>,
    /// How many items there have been.
    items: AtomicUsize,
    database: Database,
}

impl Bank {
    pub(super) fn new(database: Database, items: usize, combining: bool) -> Result<Self> {
        let store = PostgresStore::builder().combining(combining).connect(&database.url())?;
        let bank = store.item_bank(&BoxName::new(BANK)?)?;
        Ok(Self { bank, items: AtomicUsize::new(items), database })
    }

    pub(super) fn library(&self) -> &Arc<dyn BankAdmin> {
        &self.bank
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    /// Adds what the slice takes.
    pub(super) async fn refill(&self, load: Load) -> Result<()> {
        let first = self.items.fetch_add(load.calls, Ordering::Relaxed);
        self.bank.add(&these(first..first + load.calls)?).await?;
        Ok(())
    }

    pub(super) fn takes(&self, load: Load) -> Result<Prepared> {
        let claims = ids(load).map(ClaimId::new).collect::<Result<_, _>>()?;
        Ok(prepared(load, Takes(Arc::clone(&self.bank)), claims))
    }
}

struct Takes(Arc<dyn BankAdmin>);

impl Caller for Takes {
    type Argument = ClaimId;

    async fn call(&self, claim: &ClaimId) -> Result<()> {
        match self.0.take(claim, Hold::Forever).await? {
            Taken::New(_) => Ok(()),
            other => Err(Failure::NotNew { answer: format!("{other:?}") }),
        }
    }
}

/// The statement that a take is, by hand.
const TAKE: &str = "SELECT storagebox.bank_take($1,$2,$3,$4,$5,$6) WHERE storagebox.is_version_1() AND storagebox.is_box($7,$8)";

/// Takes by hand; they walk as the library's do.
pub(super) struct PlainTakes {
    client: Client,
    number: i64,
    epoch: i64,
    memory: Option<i64>,
    lanes: Vec<Mutex<(i64, Option<i64>)>>,
    next: AtomicUsize,
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
            epoch: of_box(database, "SELECT epoch FROM storagebox.boxes WHERE name = $1").await?,
            memory,
            lanes: places.map(|place| Mutex::new((place as i64, None))).collect(),
            next: AtomicUsize::default(),
        })
    }

    /// From where on to look, and up to where there may be more.
    fn lane(&self) -> &Mutex<(i64, Option<i64>)> {
        &self.lanes[self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len()]
    }
}

impl Caller for PlainTakes {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        let lane = self.lane();
        let (start, till) = *lane.lock().unwrap_or_else(PoisonError::into_inner);
        let take = query_scalar(TAKE)
            .bind(self.number)
            .bind(claim)
            .bind(None::<i64>)
            .bind(self.memory)
            .bind(start)
            .bind(till)
            .bind(self.number)
            .bind(self.epoch);
        let mut connection = self.client.connection().await?;
        let answers: Vec<Vec<String>> = take.fetch_all(&mut *connection).await?;
        let answer = answers.into_iter().next().unwrap_or_default();
        let number = |index: usize| answer.get(index).and_then(|number| number.parse::<i64>().ok());
        let (place, till) =
            number(2).zip(number(3)).ok_or_else(|| Failure::NotNew { answer: answer.join(" ") })?;
        *lane.lock().unwrap_or_else(PoisonError::into_inner) =
            (place.wrapping_add(1), (place < till).then_some(till));
        Ok(())
    }
}

/// The number that the bank's rows have.
pub(super) async fn number(database: &Database) -> Result<i64> {
    of_box(database, "SELECT box FROM storagebox.boxes WHERE name = $1").await
}

async fn of_box(database: &Database, sql: &'static str) -> Result<i64> {
    let client = Client::new(database.options()?)?;
    let mut connection = client.connection().await?;
    Ok(query_scalar(sql).bind(BANK).fetch_one(&mut *connection).await?)
}
