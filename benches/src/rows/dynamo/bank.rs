//! Takes through the library.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox::{
    BoxName, ClaimId, Hold, Item, Taken,
    parts::{Backend as _, BankAdmin},
};
use storagebox_dynamo::DynamoStore;

use super::server::Server;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared};
use crate::rows::side::{Caller, ids, prepared};

/// A bank that is as full before each slice as it was at first.
pub(super) struct Bank {
    bank: Arc<dyn BankAdmin>,
    /// How many items there have been.
    items: AtomicUsize,
}

impl Bank {
    pub(super) async fn new(server: &Server, items: usize) -> Result<Self> {
        let builder = DynamoStore::builder().table(server.name("bank").await?);
        let store = builder.from_client(server.driver().await?)?;
        store.setup().await?;
        let bank = store.item_bank(&BoxName::new("bench")?)?;
        bank.add(&these(0..items)?).await?;
        Ok(Self { bank, items: AtomicUsize::new(items) })
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

/// Items of 17 bytes.
pub(super) fn these(numbers: std::ops::Range<usize>) -> Result<Vec<Item>> {
    numbers.map(|number| Ok(Item::new(format!("CODE-{number:012}"))?)).collect()
}
