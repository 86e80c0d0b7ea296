//! Takes through the library, and the same statement without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use sqlx::query_scalar;
use storagebox::{BankAdmin, BoxName, ClaimId, Hold, Retention, Store as _, Taken};
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

/// The function that a take is, called by hand; it walks as the library does.
pub(super) struct PlainTakes {
    client: Client,
    number: i64,
    memory: Option<i64>,
    lanes: Vec<AtomicI64>,
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
            memory,
            lanes: places.map(|place| AtomicI64::new(place as i64)).collect(),
            next: AtomicUsize::default(),
        })
    }

    fn lane(&self) -> &AtomicI64 {
        &self.lanes[self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len()]
    }
}

impl Caller for PlainTakes {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        let lane = self.lane();
        let take = query_scalar("SELECT storagebox.bank_take($1,$2,$3,$4,$5)")
            .bind(self.number)
            .bind(claim)
            .bind(None::<i64>)
            .bind(self.memory)
            .bind(lane.load(Ordering::Relaxed));
        let mut connection = self.client.connection().await?;
        let answers: Vec<Vec<String>> = take.fetch_all(&mut *connection).await?;
        let answer = answers.into_iter().next().unwrap_or_default();
        let place = answer.get(2).and_then(|place| place.parse::<i64>().ok());
        let place = place.ok_or_else(|| Failure::NotNew { answer: answer.join(" ") })?;
        lane.store(place.wrapping_add(1), Ordering::Relaxed);
        Ok(())
    }
}

/// The number that the bank's rows have.
pub(super) async fn number(database: &Database) -> Result<i64> {
    let client = Client::new(database.options()?)?;
    let mut connection = client.connection().await?;
    let number = query_scalar("SELECT box FROM storagebox.boxes WHERE name = $1").bind(BANK);
    Ok(number.fetch_one(&mut *connection).await?)
}
