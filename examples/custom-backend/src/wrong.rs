//! The same backend with one mistake, which the suite must refuse: `release` frees an item without checking whether the
//! hold has expired.

use std::sync::Arc;

use storagebox_core::layer::{Call, Layer, Layered, Next, Request, Response};
use storagebox_core::{Attempt, Released, Result, async_trait};

use crate::error::Stepped;
use crate::item_bank::{Caller, Place};
use crate::store::RedbStore;

/// Returns the store with a wrong `release`.
pub fn wrong(store: RedbStore) -> Layered {
    Layered::new(Arc::new(store.clone()), Arc::new(WrongRelease(store)))
}

/// A layer that replaces `release` by a wrong `release`, and passes all other calls on to the store.
#[derive(Debug)]
struct WrongRelease(RedbStore);

#[async_trait]
impl Layer for WrongRelease {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let (Request::Release { claim, .. }, Some(bank)) = (call.request, call.namespace) else {
            return next.run().await;
        };
        let claim = claim.clone();
        let space = self.0.space(bank);
        let released = space.write("release", move |step, bank| {
            release(&Caller { step, bank, claim: &claim, attempt: Attempt::first() })
        });
        released.await.map(Response::Release)
    }
}

/// Frees the item of a claim, even if the hold has expired and another claim has the item.
fn release(caller: &Caller<'_>) -> Stepped<Released> {
    if let Some(claim) = caller.unjudged()?.filter(|claim| !claim.is_confirmed) {
        caller.move_item(&claim.item, &Place::Free)?;
    }
    caller.release()
}
