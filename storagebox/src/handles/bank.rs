//! The handle of a bank.

use storagebox_core::{
    Added, ClaimId, ClaimState, Confirmed, Counts, Extended, Hold, Item, ItemBank, ItemState, ListedItem, Listing,
    Released, Restored, Result, Retired, Taken, Withdrawn,
};

use crate::handles::{IntoValue, Timed, all, handle};

handle! {
    /// A bank of items. Each claim takes one item, and always the same one (article 1).
    ///
    /// [`ItemBank`](crate::parts::ItemBank) lists the guarantees. After any
    /// error or a dropped future, make the same call again.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if an id, a key or an item breaks its limit, before any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::{Confirmed, Store};
    ///
    /// let vouchers = Store::open("memory:").await?.bank("vouchers")?;
    /// vouchers.add(["SAVE-10", "SAVE-20"]).await?;
    ///
    /// let first = vouchers.assign("ada@example.com").await?;
    /// let again = vouchers.assign("ada@example.com").await?;
    /// assert_eq!(first.item(), again.item());
    /// assert!(matches!(vouchers.confirm("ada@example.com").await?, Confirmed::Confirmed(_)));
    /// # Ok(()) }
    /// ```
    Bank of ItemBank
}

impl<P: ItemBank + ?Sized> Bank<P> {
    /// Adds items. Items that the bank already knows stay unchanged (IB-5).
    pub async fn add(&self, items: impl IntoIterator<Item: IntoValue<Item>>) -> Result<Added> {
        self.part.add(&all(items)?).await
    }

    /// Assigns an item to the id permanently. The same id always gets the same item (IB-1, IB-3).
    pub async fn assign(&self, id: impl IntoValue<ClaimId>) -> Result<Taken> {
        self.part.take(&id.into_value()?, Hold::Forever).await
    }

    /// Prepares to take a free item for the claim, or to return the item that the claim already holds (IB-3, IB-4,
    /// IB-7). [`for_at_most`](Timed::for_at_most) sets the time of the hold and makes the call;
    /// [`assign`](Self::assign) takes an item for ever.
    pub fn take(&self, claim: impl IntoValue<ClaimId>) -> Timed<'_, Taken> {
        let claim = claim.into_value();
        Timed::new(move |hold| Box::pin(async move { self.part.take(&claim?, hold).await }))
    }

    /// Prepares to extend a hold until now plus the given time. Never shortens a hold (IB-6).
    /// [`for_at_most`](Timed::for_at_most) or [`forever`](Timed::forever) sets the time and makes the call.
    pub fn extend(&self, claim: impl IntoValue<ClaimId>) -> Timed<'_, Extended> {
        let claim = claim.into_value();
        Timed::new(move |hold| Box::pin(async move { self.part.extend(&claim?, hold).await }))
    }

    /// Makes the claim's hold permanent and marks its item as spent (IB-6).
    pub async fn confirm(&self, claim: impl IntoValue<ClaimId>) -> Result<Confirmed> {
        self.part.confirm(&claim.into_value()?).await
    }

    /// Ends the claim and frees its item. Also ends an unknown claim, so that a late `take` for this claim gets nothing
    /// (IB-7).
    pub async fn release(&self, claim: impl IntoValue<ClaimId>) -> Result<Released> {
        self.part.release(&claim.into_value()?).await
    }

    /// Returns the state of the claim and the item that it holds.
    pub async fn get(&self, claim: impl IntoValue<ClaimId>) -> Result<ClaimState> {
        self.part.get(&claim.into_value()?).await
    }

    /// Counts the free, held, spent and withdrawn items. The counts are exact while nothing changes (IB-10).
    pub async fn counts(&self) -> Result<Counts> {
        self.part.counts().await
    }

    /// Deletes an ended or confirmed claim, so that its id can be used again. The caller guarantees that no earlier
    /// call for this claim is still in progress (IB-7). An attempt that the handle retried counts as well: after an
    /// error or a retry, wait as long as a request may take to arrive.
    pub async fn retire(&self, claim: impl IntoValue<ClaimId>) -> Result<Retired> {
        self.part.retire(&claim.into_value()?).await
    }

    /// Returns the state of an item and its holder.
    pub async fn holder(&self, item: impl IntoValue<Item>) -> Result<ItemState> {
        self.part.holder(&item.into_value()?).await
    }

    /// Lists the items with their states (IB-10).
    pub fn list(&self) -> Listing<'_, ListedItem> {
        Listing::new(move |after, limit| Box::pin(async move { self.part.list(after.as_ref(), limit).await }))
    }

    /// Withdraws free items, so that no claim can take them. Held and spent items stay unchanged (IB-2).
    pub async fn withdraw(&self, items: impl IntoIterator<Item: IntoValue<Item>>) -> Result<Withdrawn> {
        self.part.withdraw(&all(items)?).await
    }

    /// Frees withdrawn items. All other items stay unchanged (IB-2, IB-5).
    pub async fn restore(&self, items: impl IntoIterator<Item: IntoValue<Item>>) -> Result<Restored> {
        self.part.restore(&all(items)?).await
    }
}
