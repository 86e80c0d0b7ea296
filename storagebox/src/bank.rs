//! The handle of a bank.

use storagebox_core::{
    Added, BankAdmin, ClaimId, ClaimState, Confirmed, Counts, Cursor, Error, Extended, Hold, Item, ItemState,
    ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn,
};

use crate::handle::{all, checked, handle};

handle! {
    /// A bank of items, from which each claim takes one, and always the same one (article 1).
    ///
    /// The promises are those of [`ItemBank`](crate::ItemBank) and [`BankAdmin`](crate::BankAdmin). After any error or a
    /// dropped future, make the same call again.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for an id, a key or an item that breaks its limit, before any I/O.
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
    Bank of BankAdmin
}

impl Bank {
    /// Adds items; the bank leaves those that it knows as they are (IB-5).
    pub async fn add(
        &self,
        items: impl IntoIterator<Item: TryInto<Item, Error: Into<Error>>>,
    ) -> Result<Added> {
        self.part.add(&all(items)?).await
    }

    /// Assigns an item to the id, for ever; the same id gets the same item (IB-1, IB-3).
    pub async fn assign(&self, id: impl TryInto<ClaimId, Error: Into<Error>>) -> Result<Taken> {
        self.take(id, Hold::Forever).await
    }

    /// Takes a free item for the claim, or answers the one that the claim holds (IB-3, IB-4, IB-7).
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the hold is shorter than 1 ms or longer than a hundred years.
    pub async fn take(&self, claim: impl TryInto<ClaimId, Error: Into<Error>>, hold: Hold) -> Result<Taken> {
        self.part.take(&checked(claim)?, hold).await
    }

    /// Extends a hold: it lasts until now plus the given time, or for ever. A hold is never shortened (IB-6).
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the hold is shorter than 1 ms or longer than a hundred years.
    pub async fn extend(
        &self,
        claim: impl TryInto<ClaimId, Error: Into<Error>>,
        hold: Hold,
    ) -> Result<Extended> {
        self.part.extend(&checked(claim)?, hold).await
    }

    /// Makes the claim's hold permanent: its item is spent (IB-6).
    pub async fn confirm(&self, claim: impl TryInto<ClaimId, Error: Into<Error>>) -> Result<Confirmed> {
        self.part.confirm(&checked(claim)?).await
    }

    /// Ends the claim and frees its item. An unknown claim is ended too, so that a late `take` of it gets nothing (IB-7).
    pub async fn release(&self, claim: impl TryInto<ClaimId, Error: Into<Error>>) -> Result<Released> {
        self.part.release(&checked(claim)?).await
    }

    /// Returns what the claim is and holds.
    pub async fn get(&self, claim: impl TryInto<ClaimId, Error: Into<Error>>) -> Result<ClaimState> {
        self.part.get(&checked(claim)?).await
    }

    /// Counts the items that are free, held, spent and withdrawn; exact while nothing changes (IB-10).
    pub async fn counts(&self) -> Result<Counts> {
        self.part.counts().await
    }

    /// Forgets an ended or confirmed claim, so that its id may be used anew. The caller vouches that no earlier call of this
    /// claim is still under way (IB-7).
    pub async fn retire(&self, claim: impl TryInto<ClaimId, Error: Into<Error>>) -> Result<Retired> {
        self.part.retire(&checked(claim)?).await
    }

    /// Returns where an item is, and who has it.
    pub async fn holder(&self, item: impl TryInto<Item, Error: Into<Error>>) -> Result<ItemState> {
        self.part.holder(&checked(item)?).await
    }

    /// Lists at most `limit` items with their states, from the start or a cursor on (IB-10).
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a limit of 0 or a cursor that this bank did not make.
    pub async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        self.part.list(cursor, limit).await
    }

    /// Sets free items aside, so that nobody takes them; held and spent ones stay as they are (IB-2).
    pub async fn withdraw(
        &self,
        items: impl IntoIterator<Item: TryInto<Item, Error: Into<Error>>>,
    ) -> Result<Withdrawn> {
        self.part.withdraw(&all(items)?).await
    }

    /// Frees withdrawn items; all others stay as they are (IB-2, IB-5).
    pub async fn restore(
        &self,
        items: impl IntoIterator<Item: TryInto<Item, Error: Into<Error>>>,
    ) -> Result<Restored> {
        self.part.restore(&all(items)?).await
    }
}
