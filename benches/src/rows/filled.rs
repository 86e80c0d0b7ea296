//! A bank that is refilled before each measurement, and the takes of a measurement.
#![allow(dead_code, reason = "with few features there are few rows")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox::bank::Hold;
use storagebox::values::{ClaimId, Item, Namespace};
use storagebox::{
    Bank, Store, Taken,
    parts::{Backend, ItemBank},
};

use super::side::{Caller, ids, prepared};
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared};
use crate::tally::CountedTimer;

pub(super) const BANK: &str = "bench";
const LOADED_TOGETHER: usize = 100_000;

/// One bank, which is called in two ways: directly through [`ItemBank`], or through the handle [`Bank`].
pub(super) struct Filled {
    part: Arc<dyn ItemBank>,
    handle: Bank,
    items: AtomicUsize,
}

impl Filled {
    /// Opens a bank that must already have this number of items.
    pub(super) fn new(store: impl Backend, items: usize) -> Result<Self> {
        let part = store.item_bank(&Namespace::new(BANK)?)?;
        let handle = Store::new(store).with_timer(CountedTimer).bank(BANK)?;
        Ok(Self { part, handle, items: AtomicUsize::new(items) })
    }

    pub(super) async fn with_items(store: impl Backend, items: usize) -> Result<Self> {
        let filled = Self::new(store, items)?;
        // This call creates the namespace, even if no items follow.
        filled.part.counts().await?;
        for first in (0..items).step_by(LOADED_TOGETHER) {
            filled.part.add(&these(first..items.min(first + LOADED_TOGETHER))?).await?;
        }
        Ok(filled)
    }

    pub(super) fn part(&self) -> &Arc<dyn ItemBank> {
        &self.part
    }

    pub(super) async fn refill(&self, load: Load) -> Result<()> {
        let first = self.items.fetch_add(load.calls, Ordering::Relaxed);
        self.part.add(&these(first..first + load.calls)?).await?;
        Ok(())
    }

    pub(super) fn takes(&self, load: Load) -> Result<Prepared> {
        Ok(prepared(load, ByPart(Arc::clone(&self.part)), claims(load)?))
    }

    /// Prepares one take per call through a handle.
    pub(super) fn takes_by_handle(&self, load: Load) -> Result<Prepared> {
        Ok(prepared(load, ByHandle(self.handle.clone()), claims(load)?))
    }
}

struct ByPart(Arc<dyn ItemBank>);

impl Caller for ByPart {
    type Argument = ClaimId;

    async fn call(&self, claim: &ClaimId) -> Result<()> {
        expect_new(&self.0.take(claim, Hold::Forever).await?)
    }
}

struct ByHandle(Bank);

impl Caller for ByHandle {
    type Argument = ClaimId;

    async fn call(&self, claim: &ClaimId) -> Result<()> {
        expect_new(&self.0.assign(claim).await?)
    }
}

fn claims(load: Load) -> Result<Vec<ClaimId>> {
    Ok(ids(load).map(ClaimId::new).collect::<Result<_, _>>()?)
}

pub(super) fn expect_new(taken: &Taken) -> Result<()> {
    match taken {
        Taken::New(_) => Ok(()),
        other => Err(Failure::NotNew { answer: format!("{other:?}") }),
    }
}

/// Returns one item of 17 bytes per number.
pub(super) fn these(numbers: impl Iterator<Item = usize>) -> Result<Vec<Item>> {
    numbers.map(|number| Ok(Item::new(format!("CODE-{number:012}"))?)).collect()
}
