//! What becomes of a claim whose hold has run out, and of one that is confirmed.

use std::time::Duration;

use storagebox_core::{
    BankAdmin, ClaimId, ClaimState, Confirmed, Counts, End, Extended, Hold, Item, ItemBank, ItemState,
    Released, Result, StoreExt, Taken,
};

use crate::scene::{Gate, with_place};
use crate::support::failed;

const MINUTE: Duration = Duration::from_secs(60);

/// A call that is answered that the hold has run out.
#[derive(Clone, Copy, Debug)]
enum Told {
    Release,
    Confirm,
    Extend,
    Take,
}

impl Told {
    async fn is_told(self, bank: &dyn BankAdmin, claim: &ClaimId) -> Result<()> {
        let is_expired = match self {
            Self::Release => bank.release(claim).await? == Released::Expired,
            Self::Confirm => bank.confirm(claim).await? == Confirmed::Ended(End::Expired),
            Self::Extend => bank.extend(claim, Hold::For(MINUTE)).await? == Extended::Ended(End::Expired),
            Self::Take => bank.take(claim, Hold::Forever).await? == Taken::Ended(End::Expired),
        };
        assert!(is_expired, "{self:?}");
        Ok(())
    }
}

/// Sent while the hold lasted, it arrives after somebody was told that the hold has run out.
#[tokio::test]
async fn a_confirm_that_lands_after_expired_was_answered_changes_nothing() -> Result<()> {
    with_place(async |place| {
        for told in [Told::Release, Told::Confirm, Told::Extend, Told::Take] {
            let (name, gate) = (format!("{told:?}"), Gate::default());
            let (store, faults) = gate.store(&place.table, place.builder()).await?;
            let (held, elsewhere) = (store.bank(&*name)?, place.store().await?.bank(&*name)?);
            let (claim, item) = (ClaimId::new("ada")?, Item::new("code")?);
            held.add(std::slice::from_ref(&item)).await?;
            held.take(&claim, Hold::For(MINUTE)).await?;
            faults.script_for("UpdateItem", [Gate::HOLD]);
            let late = tokio::spawn({
                let claim = claim.clone();
                async move { held.confirm(&claim).await }
            });
            gate.reached().await;
            place.clock.advance(2 * MINUTE);
            told.is_told(&*elsewhere, &claim).await?;
            gate.open();
            let answer = late.await.map_err(failed)??;
            assert_eq!(answer, Confirmed::Ended(End::Expired), "{told:?}");
            assert_eq!(elsewhere.get(&claim).await?, ClaimState::Ended(End::Expired), "{told:?}");
            assert_eq!(elsewhere.holder(&item).await?, ItemState::Free, "{told:?}");
            assert_eq!(elsewhere.counts().await?, Counts { free: 1, ..Counts::default() }, "{told:?}");
        }
        Ok(())
    })
    .await
}
