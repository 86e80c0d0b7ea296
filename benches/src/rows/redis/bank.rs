//! Takes and loads through the library.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox::{
    BoxName, ClaimId, Hold, Item, Taken,
    parts::{Backend as _, BankAdmin},
};
use storagebox_redis::RedisStore;

use super::server::Server;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Work};
use crate::rows::side::{Caller, ids, prepared};

const BANK: &str = "bench";

/// A bank that is as full before each slice as it was at first.
pub(super) struct Bank {
    bank: Arc<dyn BankAdmin>,
    /// How many items there have been.
    items: AtomicUsize,
    prefix: String,
}

impl Bank {
    pub(super) async fn new(server: &Server, items: usize) -> Result<Self> {
        let prefix = server.prefix().await?;
        let store = RedisStore::builder().prefix(&prefix)?.connect(&server.url().await?)?;
        store.setup().await?;
        let bank = store.item_bank(&BoxName::new(BANK)?)?;
        // The first call makes it; who works by hand looks for its epoch.
        bank.counts().await?;
        for first in (0..items).step_by(100_000) {
            bank.add(&these(first..items.min(first + 100_000))?).await?;
        }
        Ok(Self { bank, items: AtomicUsize::new(items), prefix })
    }

    /// What all its keys begin with.
    pub(super) fn key(&self) -> String {
        format!("{}:{{b.{BANK}.0}}", self.prefix)
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

    /// One call of `add` with all items of the slice.
    pub(super) fn adds(&self, load: Load) -> Result<Prepared> {
        let items = Arc::new(fresh(load)?);
        let (bank, world) = (Arc::clone(&self.bank), Box::new(Arc::clone(&items)));
        let work = async move { all_new(bank.add(&items).await?.added, items.len()) };
        Ok(Prepared { tasks: vec![Box::pin(work) as Work], world })
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

pub(super) fn all_new(added: u64, items: usize) -> Result<()> {
    if added == items as u64 { Ok(()) } else { Err(Failure::NoWork { answer: format!("{added} new items") }) }
}

/// Items that no other slice has.
pub(super) fn fresh(load: Load) -> Result<Vec<Item>> {
    let first = load.slice as usize * 1_000_000_000;
    these(first..first + load.calls)
}

/// Items of 17 bytes.
fn these(numbers: std::ops::Range<usize>) -> Result<Vec<Item>> {
    numbers.map(|number| Ok(Item::new(format!("CODE-{number:012}"))?)).collect()
}
