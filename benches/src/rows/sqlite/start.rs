//! Starts: a store is opened and takes an item, or a plain connection is opened and takes an item with the same
//! statement.

use std::sync::Arc;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, query};
use storagebox::bank::Hold;
use storagebox::{
    Taken,
    parts::{Backend, ItemBank},
};

use super::file::Bank;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared};
use crate::rows::filled::BANK;
use crate::rows::side::{Caller, ids, prepared};

const TAKE: &str = include_str!("../../../../storagebox-sqlite/sql/item_bank/take.sql");

pub(super) fn ours(world: &Arc<Bank>, load: Load) -> Result<Prepared> {
    let opens = Opens { url: world.url(), _world: Arc::clone(world) };
    Ok(prepared(load, opens, ids(load).collect()))
}

pub(super) fn plain(world: &Arc<Bank>, load: Load) -> Result<Prepared> {
    let connects = Connects { options: world.options(), _world: Arc::clone(world) };
    Ok(prepared(load, connects, ids(load).collect()))
}

struct Opens {
    url: String,
    _world: Arc<Bank>,
}

impl Caller for Opens {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        let store = storagebox::parts::open(&self.url).await?;
        match store.item_bank(&BANK.parse()?)?.take(&claim.as_str().parse()?, Hold::Forever).await? {
            Taken::New(_) => Ok(store.close().await?),
            other => Err(Failure::NotNew { answer: format!("{other:?}") }),
        }
    }
}

struct Connects {
    options: SqliteConnectOptions,
    _world: Arc<Bank>,
}

impl Caller for Connects {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        use sqlx::Connection as _;

        let mut connection = self.options.connect().await?;
        // The bank is the only namespace.
        let take = query(TAKE).bind(1).bind(claim.as_str()).bind(None::<i64>);
        let taken = take.fetch_all(&mut connection).await?;
        connection.close().await?;
        match taken.len() {
            1 => Ok(()),
            other => Err(Failure::NotNew { answer: format!("{other} items") }),
        }
    }
}
