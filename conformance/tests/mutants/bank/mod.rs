//! Broken item banks.

mod add;
mod end;
mod take;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, Extended, Held, Hold, Item, ItemBank, ItemState,
    ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};

use crate::steps::{OwnIds, lock};
use crate::void::{VoidMistake, VoidState};
use take::{clamped, until_a_worker_comes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BankMistake {
    ReadsThenDeletes,
    LosesOnDrop,
    NoPutBack,
    EmptyWhenLocked,
    EmptyOnThrottle,
    EmptyIsRemembered,
    EmptyBeforeLookup,
    WaitsForAWorker,
    ThirtyCandidates,
    DropsTheTail,
    RetryTakesAnother,
    RetryRenewsTheHold,
    AddFreesHeld,
    AddCountsDuplicates,
    ClaimsOfOneClient,
    ClaimsSpanBanks,
    StaleReleaseFrees,
    ReleaseDoesNotFence,
    ReleaseUndoesConfirm,
    ConfirmsTheExpired,
    ExtendShortens,
    ExtendRevives,
    ClientsClock,
    EndedTakesAgain,
    RetiresHolders,
    RestoreFreesHeld,
    CountsWithdrawnAsFree,
    ListSkipsOne,
    TrimsClaims,
    ClampsDurations,
    AppliesThenChecks,
    LooksAtOnePage,
    AddCountsTheLapsed,
    RestoresOnePage,
    RefusalVoidsNothing,
    VoidHasNoNumber,
    VoidNeverEnds,
}

use BankMistake as Mistake;

/// The number of rows that one statement of the store reads or writes.
const PAGE: usize = 500;

#[derive(Default)]
pub(crate) struct BankState {
    /// The items that the mutant reports for claims whose item the inner bank has freed or never gave to the claim.
    told: Mutex<HashMap<ClaimId, Held>>,
    /// The item that a taker has read but not yet deleted.
    read: Mutex<Option<Held>>,
    had: Mutex<HashMap<ClaimId, Item>>,
    takers: AtomicUsize,
    deadlines: Mutex<HashMap<ClaimId, Instant>>,
    own: OwnIds,
    ended: Mutex<HashSet<ClaimId>>,
    void: VoidState,
}

impl BankState {
    pub(crate) fn ended(&self) -> Vec<ClaimId> {
        lock(&self.ended).iter().cloned().collect()
    }
}

pub(crate) struct BrokenBank {
    pub(crate) inner: Arc<dyn ItemBank>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<BankState>,
    pub(crate) client: u64,
}

impl BrokenBank {
    /// Returns the id of this claim in the inner bank.
    fn below(&self, claim: &ClaimId) -> Result<ClaimId> {
        match self.mistake {
            Some(Mistake::ClaimsOfOneClient) => ClaimId::new(format!("{}/{claim}", self.client)),
            Some(Mistake::TrimsClaims) if !claim.as_str().trim().is_empty() => ClaimId::new(claim.as_str().trim()),
            _ => Ok(claim.clone()),
        }
    }

    fn above(&self, state: ItemState) -> Result<ItemState> {
        let prefix = format!("{}/", self.client);
        let strip = |claim: ClaimId| ClaimId::new(claim.as_str().trim_start_matches(&prefix));
        Ok(match (self.mistake, state) {
            (Some(Mistake::ClaimsOfOneClient), ItemState::Held(claim)) => ItemState::Held(strip(claim)?),
            (_, state) => state,
        })
    }

    /// Returns the attempt that the mutant passes to the inner bank.
    fn spoilt(&self, attempt: Attempt) -> Result<Attempt> {
        self.state.void.spoilt(self.mistake.and_then(VoidMistake::of_bank), attempt)
    }

    fn told(&self, claim: &ClaimId) -> Option<Held> {
        lock(&self.state.told).get(claim).cloned()
    }

    /// Frees the item of a claim, although the mutant still answers that the claim holds the item.
    async fn free_under(&self, holder: &ClaimId) -> Result<()> {
        if let ClaimState::Held(held) = self.inner.get(holder).await? {
            lock(&self.state.told).insert(holder.clone(), held);
            let _ = self.inner.release(holder).await?;
            let _ = self.inner.retire(holder).await?;
        }
        Ok(())
    }

    async fn free_under_holders_of(&self, items: &[Item]) -> Result<()> {
        for item in items {
            if let ItemState::Held(holder) = self.inner.holder(item).await? {
                self.free_under(&holder).await?;
            }
        }
        Ok(())
    }

    async fn is_unknown(&self, claim: &ClaimId) -> Result<bool> {
        Ok(self.inner.get(claim).await? == ClaimState::Unknown)
    }
}

#[async_trait]
impl ItemBank for BrokenBank {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        match self.mistake {
            Some(Mistake::DropsTheTail) => self.add_without_tail(items).await,
            Some(Mistake::AddFreesHeld) => {
                self.free_under_holders_of(items).await?;
                self.inner.add(items).await
            }
            Some(Mistake::AddCountsDuplicates) => self.add_counting_duplicates(items).await,
            Some(Mistake::AddCountsTheLapsed) => self.add_counting_the_lapsed(items).await,
            _ => self.inner.add(items).await,
        }
    }

    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        if let Some(held) = self.told(claim) {
            return Ok(Taken::Again(held));
        }
        let claim = &self.below(claim)?;
        match self.mistake {
            Some(Mistake::ReadsThenDeletes) => self.read_then_delete(claim, hold).await,
            Some(Mistake::LosesOnDrop) => self.take_in_two_steps(claim, hold).await,
            Some(Mistake::EmptyWhenLocked) => self.take_among(0, claim, hold).await,
            Some(Mistake::EmptyOnThrottle) => self.take_among(4, claim, hold).await,
            Some(Mistake::ThirtyCandidates) => self.take_among(30, claim, hold).await,
            Some(Mistake::EmptyIsRemembered) => self.take_and_remember_empty(claim, hold).await,
            Some(Mistake::EmptyBeforeLookup) if self.inner.counts().await?.free == 0 => Ok(Taken::Empty),
            Some(Mistake::WaitsForAWorker) => self.inner.take(claim, until_a_worker_comes(hold)).await,
            Some(Mistake::RetryTakesAnother) => self.take_another(claim, hold).await,
            Some(Mistake::RetryRenewsTheHold) => self.take_and_renew(claim, hold).await,
            Some(Mistake::StaleReleaseFrees | Mistake::ConfirmsTheExpired | Mistake::AddCountsTheLapsed) => {
                self.remember_what_it_had(claim, hold).await
            }
            Some(Mistake::LooksAtOnePage) => self.take_from_one_page(claim, hold).await,
            Some(Mistake::ClientsClock) => self.take_by_the_clients_clock(claim, hold).await,
            Some(Mistake::EndedTakesAgain) => self.take_once_more(claim, hold).await,
            Some(Mistake::ClaimsSpanBanks) => self.take_in_any_bank(claim, hold).await,
            Some(Mistake::ClampsDurations) => self.inner.take(claim, clamped(hold)).await,
            Some(Mistake::AppliesThenChecks) => {
                let taken = self.inner.take(claim, clamped(hold)).await?;
                hold.checked().map(|_| taken)
            }
            _ => self.inner.attempt_take(self.spoilt(attempt)?, claim, hold).await,
        }
    }

    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        let claim = &self.below(claim)?;
        match self.mistake {
            Some(Mistake::ExtendShortens) => self.extend_by_taking_anew(claim, hold).await,
            Some(Mistake::ExtendRevives) => self.extend_the_expired(claim, hold).await,
            _ => self.inner.attempt_extend(self.spoilt(attempt)?, claim, hold).await,
        }
    }

    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        if let Some(held) = self.told(claim) {
            return Ok(Confirmed::Confirmed(held.item));
        }
        let claim = &self.below(claim)?;
        match self.mistake {
            Some(Mistake::ConfirmsTheExpired) => self.confirm_the_expired(claim).await,
            Some(Mistake::ClientsClock) => {
                self.lapse_by_the_clients_clock().await?;
                self.inner.confirm(claim).await
            }
            _ => self.inner.attempt_confirm(self.spoilt(attempt)?, claim).await,
        }
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        lock(&self.state.told).remove(claim);
        lock(&self.state.ended).insert(claim.clone());
        let claim = &self.below(claim)?;
        match self.mistake {
            Some(Mistake::NoPutBack) => self.release_without_put_back(claim).await,
            Some(Mistake::StaleReleaseFrees) => self.release_what_it_had(claim).await,
            // There is nothing to release, so the mutant writes nothing.
            Some(Mistake::ReleaseDoesNotFence) if self.is_unknown(claim).await? => Ok(Released::Released),
            Some(Mistake::ReleaseUndoesConfirm) => self.release_the_confirmed(claim).await,
            _ => self.inner.release(claim).await,
        }
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        match self.told(claim) {
            Some(held) => Ok(ClaimState::Held(held)),
            None => self.inner.get(&self.below(claim)?).await,
        }
    }

    async fn counts(&self) -> Result<Counts> {
        let counts = self.inner.counts().await?;
        Ok(match self.mistake {
            Some(Mistake::CountsWithdrawnAsFree) => Counts { free: counts.free + counts.withdrawn, ..counts },
            _ => counts,
        })
    }

    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        let claim = &self.below(claim)?;
        let retired = self.inner.attempt_retire(self.spoilt(attempt)?, claim).await?;
        if self.mistake == Some(Mistake::RetiresHolders) && retired == Retired::Holding {
            let _ = self.inner.release(claim).await?;
            return self.inner.retire(claim).await;
        }
        Ok(retired)
    }

    async fn holder(&self, item: &Item) -> Result<ItemState> {
        self.above(self.inner.holder(item).await?)
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let mut page = self.inner.list(cursor, limit).await?;
        if self.mistake == Some(Mistake::ListSkipsOne) && page.next.is_some() {
            // The cursor points after an entry that did not fit on the page.
            page.entries.pop();
        }
        Ok(page)
    }

    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        self.inner.withdraw(items).await
    }

    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        if self.mistake == Some(Mistake::RestoreFreesHeld) {
            self.free_under_holders_of(items).await?;
        }
        if self.mistake == Some(Mistake::RestoresOnePage) {
            return self.inner.restore(&items[..items.len().min(PAGE)]).await;
        }
        self.inner.restore(items).await
    }
}
