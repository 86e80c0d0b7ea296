//! The item bank: the calls of a claim. `claims` has the rows of claims, and `items` has the rows of items.

mod claims;
mod items;

use storagebox_core::backend::PageRequest;
use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, End, Extended, Hold, Item, ItemBank, ItemState,
    ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};

use crate::client::{BACKEND, Step};
use crate::error::Stepped;
use crate::space::Space;
use crate::time::{NEVER, end_of_hold, end_of_memory};
use crate::void_calls;

pub(crate) use claims::{CLAIMS, maintain};
use claims::{Claim, Judged};
pub(crate) use items::{AVAILABLE, ITEMS, Place};

#[derive(Debug)]
pub(crate) struct RedbBank(pub(crate) Space);

/// A step that concerns one claim of a bank.
pub(crate) struct Caller<'s> {
    pub(crate) step: &'s Step,
    pub(crate) bank: &'s str,
    pub(crate) claim: &'s ClaimId,
    pub(crate) attempt: Attempt,
}

impl Caller<'_> {
    fn take(&self, hold: Hold) -> Stepped<Taken> {
        match self.judged()? {
            Judged::Held(claim) => return Ok(Taken::Again(claim.held(self.step.now)?)),
            Judged::Ended(end) => return Ok(Taken::Ended(end)),
            Judged::Unknown if self.is_void()? => return Ok(Taken::Empty),
            Judged::Unknown => {}
        }
        let Some(item) = items::available(self.step, self.bank)? else { return self.refused(Taken::Empty) };
        let claim = Claim { item, until: end_of_hold(self.step.now, hold), is_confirmed: false };
        self.hold(&claim)?;
        Ok(Taken::New(claim.held(self.step.now)?))
    }

    fn extend(&self, hold: Hold) -> Stepped<Extended> {
        match self.judged()? {
            _ if self.is_void()? => Ok(Extended::Unknown),
            Judged::Held(claim) if claim.is_confirmed => Ok(Extended::Confirmed(claim.held(self.step.now)?)),
            Judged::Held(claim) => {
                let claim = Claim { until: claim.until.max(end_of_hold(self.step.now, hold)), ..claim };
                self.hold(&claim)?;
                Ok(Extended::Extended(claim.held(self.step.now)?))
            }
            Judged::Ended(end) => Ok(Extended::Ended(end)),
            Judged::Unknown => self.refused(Extended::Unknown),
        }
    }

    fn confirm(&self) -> Stepped<Confirmed> {
        match self.judged()? {
            _ if self.is_void()? => Ok(Confirmed::Unknown),
            Judged::Held(claim) => {
                let claim = Claim { until: NEVER, is_confirmed: true, ..claim };
                self.move_item(&claim.item, &Place::Spent(Some(self.claim.as_str().to_owned())))?;
                self.put(&claim)?;
                Ok(Confirmed::Confirmed(Item::new(claim.item)?))
            }
            Judged::Ended(end) => Ok(Confirmed::Ended(end)),
            Judged::Unknown => self.refused(Confirmed::Unknown),
        }
    }

    pub(crate) fn release(&self) -> Stepped<Released> {
        match self.judged()? {
            Judged::Ended(End::Released) => Ok(Released::Released),
            Judged::Ended(End::Expired) => Ok(Released::Expired),
            Judged::Held(claim) if claim.is_confirmed => Ok(Released::Confirmed),
            Judged::Held(claim) => {
                self.move_item(&claim.item, &Place::Free)?;
                self.fence().map(|()| Released::Released)
            }
            // The claim is unknown. It is fenced, because a `take` of it may be in progress (IB-7).
            Judged::Unknown => self.fence().map(|()| Released::Released),
        }
    }

    fn retire(&self) -> Stepped<Retired> {
        match self.judged()? {
            _ if self.is_void()? => return Ok(Retired::Holding),
            Judged::Unknown => return Ok(Retired::Unknown),
            Judged::Held(claim) if !claim.is_confirmed => return self.refused(Retired::Holding),
            Judged::Held(claim) => self.move_item(&claim.item, &Place::Spent(None))?,
            Judged::Ended(_) => {}
        }
        void_calls::forget(self.step, self.subject())?;
        self.forget().map(|()| Retired::Retired)
    }

    /// Returns whether this attempt of the call is void, because a later attempt was refused (ER-5).
    fn is_void(&self) -> Stepped<bool> {
        Ok(void_calls::refusal(self.step, self.subject(), self.attempt)?.is_some())
    }

    fn refused<T>(&self, refusal: T) -> Stepped<T> {
        let until = end_of_memory(self.step.now);
        void_calls::refuse(self.step, self.subject(), self.attempt, 0, until).map(|()| refusal)
    }

    fn subject(&self) -> void_calls::Subject<'_> {
        ("claim", self.bank, "", self.claim.as_str())
    }

    /// Writes the hold of a claim into the rows of the claim and of its item.
    fn hold(&self, claim: &Claim) -> Stepped<()> {
        let by = self.claim.as_str().to_owned();
        self.move_item(&claim.item, &Place::Held { by, until: claim.until })?;
        self.put(claim)
    }

    pub(crate) fn move_item(&self, item: &str, place: &Place) -> Stepped<()> {
        items::move_to(self.step, (self.bank, item), place)
    }
}

impl RedbBank {
    async fn call<T: Send + 'static>(
        &self,
        operation: &'static str,
        attempt: Attempt,
        claim: &ClaimId,
        call: impl FnOnce(&Caller<'_>) -> Stepped<T> + Send + 'static,
    ) -> Result<T> {
        let claim = claim.clone();
        self.0.write(operation, move |step, bank| call(&Caller { step, bank, claim: &claim, attempt })).await
    }
}

#[async_trait]
impl ItemBank for RedbBank {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        self.0.each("add", items, items::add).await
    }

    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let hold = hold.checked()?;
        self.call("take", attempt, claim, move |caller| caller.take(hold)).await
    }

    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        let hold = hold.checked()?;
        self.call("extend", attempt, claim, move |caller| caller.extend(hold)).await
    }

    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        self.call("confirm", attempt, claim, |caller| caller.confirm()).await
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        self.call("release", Attempt::first(), claim, |caller| caller.release()).await
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        let claim = claim.clone();
        self.0.read("get", move |look, bank| claims::get(look, bank, &claim)).await
    }

    async fn counts(&self) -> Result<Counts> {
        self.0.read("counts", items::counts).await
    }

    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        self.call("retire", attempt, claim, |caller| caller.retire()).await
    }

    async fn holder(&self, item: &Item) -> Result<ItemState> {
        let item = item.clone();
        self.0.read("holder", move |look, bank| items::holder(look, bank, &item)).await
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let listing = PageRequest::of::<Item>(BACKEND, cursor, limit)?;
        let asked = listing.clone();
        let entries = self.0.read("list", move |look, bank| items::list(look, bank, &asked)).await?;
        Ok(listing.page(entries, |last: &ListedItem| last.item.as_str()))
    }

    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        self.0.each("withdraw", items, items::withdraw).await
    }

    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        self.0.each("restore", items, items::restore).await
    }
}
