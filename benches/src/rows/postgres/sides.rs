//! The two sides of each row.

use std::sync::Arc;

use sqlx::postgres::PgConnection;
use storagebox::Strategy;
use storagebox::parts::{Backend, ItemBank};
use storagebox_postgres::PostgresStore;

use super::bank::{self, Bank, PlainTakes, PlainTakesWithin, TakesWithin};
use super::client::Client;
use super::cluster::{Cluster, Database};
use super::counter::Hot;
use super::{aged, article, load, update};
use crate::error::Result;
use crate::row::{Load, Prepared, Side};
use crate::rows::filled::BANK;
use crate::rows::processor;
use crate::rows::side::{ids, prepared, side};

struct Plain {
    client: Client,
    database: Database,
}

impl Plain {
    async fn new(cluster: Cluster, items: usize) -> Result<Self> {
        let database = cluster.database(items).await?;
        Ok(Self { client: Client::new(database.options()?)?, database })
    }
}

/// Opens a bank in a new database. With `waiting`, commits wait for the disk.
async fn new_bank(cluster: Cluster, items: usize, combining: bool, waiting: bool) -> Result<Bank> {
    let database = cluster.database(items).await?;
    if !waiting {
        without_waiting(&database).await?;
    }
    Bank::new(database, items, combining)
}

/// Takes items from a bank. Commits wait for the disk.
pub(super) fn takes(cluster: &Cluster, items: usize, combining: bool) -> Side {
    takes_of(cluster, items, combining, true)
}

/// Takes items from a bank. Calls are not combined, and commits do not wait for the disk.
pub(super) fn takes_without_waiting(cluster: &Cluster, items: usize) -> Side {
    takes_of(cluster, items, false, false)
}

fn takes_of(cluster: &Cluster, items: usize, combining: bool, waiting: bool) -> Side {
    let make = move |cluster| new_bank(cluster, items, combining, waiting);
    side(cluster, make, |bank: Arc<Bank>, load| async move {
        bank.refill(load).await?;
        bank.takes(load)
    })
}

/// Takes items through a handle of a store with default settings. Commits do not wait for the disk.
pub(super) fn takes_by_handle(cluster: &Cluster, items: usize) -> Side {
    let make = move |cluster| new_bank(cluster, items, true, false);
    side(cluster, make, |bank: Arc<Bank>, load| async move {
        bank.refill(load).await?;
        bank.takes_by_handle(load)
    })
}

/// Takes items with the library's statement, but without the library.
pub(super) fn plain_takes(cluster: &Cluster, items: usize, waiting: bool) -> Side {
    let make = move |cluster| async move {
        let bank = new_bank(cluster, items, false, waiting).await?;
        let client = Client::new(bank.database().options()?)?;
        Ok((bank, client))
    };
    side(cluster, make, |world: Arc<(Bank, Client)>, load| async move {
        let (bank, client) = &*world;
        bank.refill(load).await?;
        let takes = PlainTakes::new(bank.database(), client, load).await?;
        Ok(prepared(load, takes, ids(load).collect()))
    })
}

/// Returns two sides that take items in transactions of the caller: with the library, and with the same statements
/// alone.
pub(super) fn takes_within(cluster: &Cluster, items: usize) -> [Side; 2] {
    let make = move |cluster| async move {
        let bank = new_bank(cluster, items, false, false).await?;
        let client = Client::new(bank.database().options()?)?;
        Ok((bank, client))
    };
    let ours = side(cluster, make, |world: Arc<(Bank, Client)>, load| async move {
        let (bank, client) = &*world;
        bank.refill(load).await?;
        // Opens the namespace outside a transaction. A transaction may be rolled back, so each would open it again.
        bank.store().item_bank(&BANK.parse()?)?.counts().await?;
        let takes = TakesWithin { store: bank.store().clone(), client: client.clone() };
        Ok(prepared(load, takes, ids(load).collect()))
    });
    let floor = side(cluster, make, |world: Arc<(Bank, Client)>, load| async move {
        let (bank, client) = &*world;
        bank.refill(load).await?;
        let takes = PlainTakesWithin(PlainTakes::new(bank.database(), client, load).await?);
        Ok(prepared(load, takes, ids(load).collect()))
    });
    [ours, floor]
}

async fn without_waiting(database: &Database) -> Result<()> {
    let name = database.name();
    database.server().run(format!("ALTER DATABASE {name} SET synchronous_commit = off")).await
}

/// Takes items from a bank. A checkpoint is made before each measurement, and calls are not combined.
pub(super) fn takes_after_a_checkpoint(cluster: &Cluster, items: usize) -> Side {
    let make = move |cluster| new_bank(cluster, items, false, true);
    side(cluster, make, |bank: Arc<Bank>, load| async move {
        bank.refill(load).await?;
        bank.database().server().checkpoint().await?;
        bank.takes(load)
    })
}

pub(super) fn updates_after_a_checkpoint(cluster: &Cluster) -> Side {
    side(
        cluster,
        |cluster| Plain::new(cluster, 0),
        |plain: Arc<Plain>, load| async move {
            plain.database.server().checkpoint().await?;
            Ok(update::by_key(&plain.client, load))
        },
    )
}

/// Takes items from a bank after nine tenths of its items were taken. Calls are not combined.
pub(super) fn takes_of_the_rest(cluster: &Cluster, items: usize, snapshot: bool) -> Side {
    let make = move |cluster: Cluster| async move {
        let database = cluster.database(items).await?;
        let session = if snapshot { Some(aged::snapshot(&database).await?) } else { None };
        aged::take(&database, items as u64 / 10 * 9).await?;
        Ok((Bank::new(database, items, false)?, session))
    };
    side(cluster, make, |aged: Arc<(Bank, Option<PgConnection>)>, load| async move {
        let (bank, _session) = &*aged;
        bank.refill(load).await?;
        bank.takes(load)
    })
}

/// Takes a bank's items from a table with the algorithm of article 1.
pub(super) fn article(cluster: &Cluster, items: usize) -> Side {
    let make = move |cluster: Cluster| async move {
        let plain = Plain::new(cluster, items).await?;
        plain.database.run(article::TABLES).await?;
        plain.database.run("VACUUM ANALYZE article_items").await?;
        Ok(plain)
    };
    side(cluster, make, |plain: Arc<Plain>, load| async move { Ok(article::takes(&plain.client, load)) })
}

pub(super) fn updates(cluster: &Cluster, updates: fn(&Client, Load) -> Prepared) -> Side {
    let make = |cluster| Plain::new(cluster, 0);
    side(cluster, make, move |plain: Arc<Plain>, load| async move { Ok(updates(&plain.client, load)) })
}

pub(super) fn add(cluster: &Cluster) -> Side {
    let make = |cluster: Cluster| async move { Bank::new(cluster.database(0).await?, 0, true) };
    side(cluster, make, |bank: Arc<Bank>, load| async move { load::add(bank.part(), load) })
}

pub(super) fn plain_add(cluster: &Cluster) -> Side {
    side(
        cluster,
        |cluster| Plain::new(cluster, 0),
        |plain: Arc<Plain>, load| async move { load::plain(&plain.client, bank::number(&plain.database).await?, load) },
    )
}

pub(super) fn changes(cluster: &Cluster, strategy: Strategy) -> Side {
    let make = move |cluster: Cluster| async move { Hot::new(cluster.database(0).await?, strategy) };
    side(cluster, make, |hot: Arc<Hot>, load| async move { hot.changes(load) })
}

struct Own {
    store: PostgresStore,
    _database: Database,
}

async fn own(cluster: Cluster) -> Result<Own> {
    let database = cluster.database(0).await?;
    Ok(Own { store: PostgresStore::builder().connect(&database.url())?, _database: database })
}

/// Processes messages with a processor, which changes tokens and entities in one step.
pub(super) fn joined(cluster: &Cluster) -> Side {
    side(cluster, own, |own: Arc<Own>, load| async move { processor::by_a_processor(&own.store, load).await })
}

/// Processes messages in the separate steps of the article.
pub(super) fn by_the_article(cluster: &Cluster) -> Side {
    side(cluster, own, |own: Arc<Own>, load| async move { processor::by_the_article(&own.store, load).await })
}
