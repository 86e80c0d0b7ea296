//! A bank that also returns whether an attempt was lost. The store may have applied a lost attempt.

use std::cell::Cell;

use storagebox::bank::Added;
use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::values::{ClaimId, Item, Namespace};
use storagebox::{Bank, Certainty, Result, Retry, Store, Taken, async_trait};

tokio::task_local! {
    /// Whether an attempt of the call in progress was lost.
    static IS_ANY_LOST: Cell<bool>;
}

/// A layer that notes lost attempts, because a handle returns only the result of the last attempt of a call.
#[derive(Debug)]
struct LossWatch;

#[async_trait]
impl Layer for LossWatch {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        next.run().await.inspect_err(|error| {
            if error.certainty() == Certainty::Unknown {
                // The variable exists only during a call of `LossAwareBank`.
                let _ = IS_ANY_LOST.try_with(|is_lost| is_lost.set(true));
            }
        })
    }
}

#[derive(Clone)]
pub(crate) struct LossAwareBank(Bank);

impl LossAwareBank {
    pub(crate) fn open(store: &Store, name: &Namespace, retry: Retry) -> Result<Self> {
        store.clone().layer(LossWatch).with_retry(retry).bank(name).map(Self)
    }

    /// Adds the items, and also returns whether an attempt was lost.
    pub(crate) async fn add(&self, items: &[Item]) -> Result<(Added, bool)> {
        watched(self.0.add(items)).await
    }

    /// Assigns an item to the id, and also returns whether an attempt was lost.
    pub(crate) async fn assign(&self, id: &ClaimId) -> Result<(Taken, bool)> {
        watched(self.0.assign(id)).await
    }
}

async fn watched<T>(call: impl Future<Output = Result<T>>) -> Result<(T, bool)> {
    let watched = async { Ok((call.await?, IS_ANY_LOST.with(Cell::get))) };
    IS_ANY_LOST.scope(Cell::new(false), watched).await
}
