//! The same backend with one mistake, which the suite must refuse: `release` frees an item without asking the clock.

use std::sync::Arc;

use storagebox_core::layer::{Answered, Call, Layer, Layered, Next};
use storagebox_core::{ClaimId, Released, Result, async_trait};

use crate::error::Stepped;
use crate::item_bank::{Caller, Place};
use crate::store::RedbStore;

/// Returns the store with a wrong `release` in the place of its own.
pub fn wrong(store: RedbStore) -> Layered {
    Layered::new(Arc::new(store.clone()), Arc::new(WrongRelease(store)))
}

/// Makes the wrong call where the right one is asked for. All other calls are those of the store.
#[derive(Debug)]
struct WrongRelease(RedbStore);

#[async_trait]
impl Layer for WrongRelease {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let ("release", Some(bank), Some(claim)) = (call.operation, call.namespace, call.argument::<ClaimId>()) else {
            return next.call().await;
        };
        let space = self.0.space(bank);
        let released = space.write("release", move |step, bank| release(&Caller { step, bank, claim: &claim }));
        released.await.map(Answered::of)
    }
}

/// The mistake: the claim's row names its item also after the hold has expired, and another claim may have it by then.
fn release(caller: &Caller<'_>) -> Stepped<Released> {
    if let Some(claim) = caller.unjudged()?.filter(|claim| !claim.is_confirmed) {
        caller.move_item(&claim.item, &Place::Free)?;
    }
    caller.release()
}
