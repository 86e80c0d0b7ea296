//! Takes and loads through the library.

use std::ops::Deref;
use std::sync::Arc;

use storagebox::parts::Backend as _;
use storagebox::values::Item;
use storagebox_redis::RedisStore;

use super::server::Server;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Work};
use crate::rows::filled::{BANK, Filled, these};

pub(super) async fn store(server: Server) -> Result<RedisStore> {
    Ok(store_of(&server).await?.1)
}

async fn store_of(server: &Server) -> Result<(String, RedisStore)> {
    let prefix = server.prefix().await?;
    let store = RedisStore::builder().prefix(&prefix)?.connect(&server.url().await?)?;
    store.setup().await?;
    Ok((prefix, store))
}

/// A bank, and the prefix of the keys of its store.
pub(super) struct Bank {
    filled: Filled,
    prefix: String,
}

impl Bank {
    pub(super) async fn new(server: &Server, items: usize) -> Result<Self> {
        let (prefix, store) = store_of(server).await?;
        Ok(Self { filled: Filled::with_items(store, items).await?, prefix })
    }

    pub(super) fn key(&self) -> String {
        format!("{}:{{b.{BANK}.0}}", self.prefix)
    }

    /// Prepares one call of `add` with all items of the measurement.
    pub(super) fn adds(&self, load: Load) -> Result<Prepared> {
        let items = Arc::new(fresh(load)?);
        let (bank, world) = (Arc::clone(self.filled.part()), Box::new(Arc::clone(&items)));
        let work = async move { all_new(bank.add(&items).await?.added, items.len()) };
        Ok(Prepared { tasks: vec![Box::pin(work) as Work], world })
    }
}

impl Deref for Bank {
    type Target = Filled;

    fn deref(&self) -> &Filled {
        &self.filled
    }
}

pub(super) fn all_new(added: u64, items: usize) -> Result<()> {
    if added == items as u64 { Ok(()) } else { Err(Failure::NoWork { answer: format!("{added} new items") }) }
}

/// Returns items that no other measurement uses.
pub(super) fn fresh(load: Load) -> Result<Vec<Item>> {
    let first = load.slice as usize * 1_000_000_000;
    these(first..first + load.calls)
}
