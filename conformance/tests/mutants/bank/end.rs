//! Mistakes of `extend`, `confirm` and `release`.

use storagebox_core::{
    ClaimId, ClaimState, Confirmed, End, Extended, Hold, HoldState, Item, ItemState, Released, Result, Taken,
};

use super::BrokenBank;
use crate::steps::lock;

impl BrokenBank {
    pub(super) fn had(&self, claim: &ClaimId) -> Option<Item> {
        lock(&self.state.had).get(claim).cloned()
    }

    pub(super) async fn release_what_it_had(&self, claim: &ClaimId) -> Result<Released> {
        let ended = matches!(self.inner.get(claim).await?, ClaimState::Ended(_));
        if let Some(item) = self.had(claim).filter(|_| ended) {
            self.free_under_holders_of(&[item]).await?;
        }
        self.inner.release(claim).await
    }

    pub(super) async fn release_without_put_back(&self, claim: &ClaimId) -> Result<Released> {
        if let ClaimState::Held(held) = self.inner.get(claim).await?
            && held.hold != HoldState::Confirmed
        {
            let _ = self.inner.confirm(claim).await?;
            let _ = self.inner.retire(claim).await?;
        }
        self.inner.release(claim).await
    }

    pub(super) async fn release_the_confirmed(&self, claim: &ClaimId) -> Result<Released> {
        let released = self.inner.release(claim).await?;
        if released == Released::Confirmed {
            let _ = self.inner.retire(claim).await?;
            let _ = self.inner.release(claim).await?;
            return Ok(Released::Released);
        }
        Ok(released)
    }

    pub(super) async fn confirm_the_expired(&self, claim: &ClaimId) -> Result<Confirmed> {
        let confirmed = self.inner.confirm(claim).await?;
        let Some(item) = self.had(claim) else {
            return Ok(confirmed);
        };
        let is_free = self.inner.holder(&item).await? == ItemState::Free;
        Ok(match confirmed {
            Confirmed::Ended(End::Expired) if is_free => Confirmed::Confirmed(item),
            other => other,
        })
    }

    pub(super) async fn extend_by_taking_anew(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        if !matches!(self.inner.get(claim).await?, ClaimState::Held(held) if held.hold != HoldState::Confirmed) {
            return self.inner.extend(claim, hold).await;
        }
        self.revive(claim, hold).await
    }

    pub(super) async fn extend_the_expired(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        if self.inner.get(claim).await? != ClaimState::Ended(End::Expired) {
            return self.inner.extend(claim, hold).await;
        }
        self.revive(claim, hold).await
    }

    pub(super) async fn revive(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        let _ = self.inner.release(claim).await?;
        let _ = self.inner.retire(claim).await?;
        match self.inner.take(claim, hold).await? {
            Taken::New(held) | Taken::Again(held) => Ok(Extended::Extended(held)),
            _ => self.inner.extend(claim, hold).await,
        }
    }
}
