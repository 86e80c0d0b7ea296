//! A named namespace of items, each assigned to one claim (article 1).

use std::time::Duration;

use async_trait::async_trait;

use crate::values::attempt::Attempt;
use crate::values::error::Result;
use crate::values::page::{Cursor, Page};
use crate::values::time::Hold;
use crate::values::value::{ClaimId, Item};

/// A namespace of strings. Each claim takes one string, always the same one.
///
/// For one bank and one kind of id, [`take`](ItemBank::take) with [`Hold::Forever`] is the only call you need. It is
/// the whole algorithm of article 1 in one atomic step. For several banks, or a bank and its records in different
/// stores, use the [`Deduplicator`](crate::Deduplicator).
///
/// # Guarantees
///
/// - IB-1 *exclusive*: at any moment at most one claim holds an item, however many processes take at once.
/// - IB-2 *conserved*: every item added is free, held, spent or withdrawn at every moment, through every crash,
///   dropped future and lost reply, because each transition is one atomic step of the store.
/// - IB-9 *no order is promised*; in a store with several writers, calls to `take` do not wait for each other.
///
/// # Cancel safety
///
/// Every method is one atomic step, never half of one. A call whose future was dropped is done, is not done, or is
/// still in progress and done later. Repeat the call with the same claim to find out, as after `OutcomeUnknown`.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` mean that nothing changed. After `OutcomeUnknown`, make the same call
/// again.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Backend, Hold, Item, ItemBank, Taken};
/// use storagebox_memory::MemoryStore;
///
/// let bank = MemoryStore::new().item_bank(&"vouchers".parse()?)?;
/// bank.add(&[Item::new("SAVE-10")?]).await?;
///
/// let first = bank.take(&"ada@example.com".parse()?, Hold::Forever).await?;
/// let again = bank.take(&"ada@example.com".parse()?, Hold::Forever).await?;
/// assert_eq!(first.item(), again.item());
/// assert!(matches!(bank.take(&"bob@example.com".parse()?, Hold::Forever).await?, Taken::Empty));
/// # Ok(()) }
/// ```
#[async_trait]
pub trait ItemBank: Send + Sync {
    /// Adds items to the bank. Items that the bank already knows do not change.
    ///
    /// # Guarantees
    ///
    /// - IB-5 *idempotent*: an item that is free, held, spent or withdrawn does not change, so a load that was
    ///   interrupted can be repeated. Duplicates within one call count once.
    /// - IB-8 *any size*: a call may contain any number of items, including none; the work per step is bounded.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part of the items may have been added; add them again.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if any part may have been added.
    ///
    /// # Backend notes
    ///
    /// One call is one atomic step only up to the backend's batch size; larger calls are split.
    async fn add(&self, items: &[Item]) -> Result<Added>;

    /// Takes a free item for the claim, or returns the item that the claim already holds.
    ///
    /// # Guarantees
    ///
    /// - IB-3 *same claim, same item*: a claim that holds an item gets it again, even from an empty bank; no other item
    ///   is taken and the hold does not change.
    /// - IB-4 *`Empty` is true*: the call returns `Empty` only if no item stayed free throughout the call; an item with
    ///   a lapsed hold counts as free. Throttling, an unreachable store and timeouts are errors.
    /// - IB-7 *an ended claim takes nothing*, however late the call arrives.
    ///
    /// # Cancel safety
    ///
    /// Safe. The claim may hold an item. Take again with the same claim to find out, or release it.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the hold is shorter than 1 ms or longer than a hundred years.
    async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        self.attempt_take(Attempt::first(), claim, hold).await
    }

    /// Makes one attempt of [`take`](Self::take).
    ///
    /// # Guarantees
    ///
    /// - ER-5: if a repeated attempt returns `Empty`, the earlier attempts of the call become void. They take nothing
    ///   later: they return `Empty` or the state that the claim then has.
    ///
    /// # Cancel safety
    ///
    /// As for `take`: make [one more attempt](Attempt::again) of the call.
    ///
    /// # Errors
    ///
    /// Those of `take`. `OutcomeUnknown` if [too many](Attempt::MAX_VOID) calls of the claim are void already.
    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken>;

    /// Extends a hold until now plus the given time, or for ever. Never shortens a hold.
    ///
    /// # Guarantees
    ///
    /// - IB-6: a lapsed hold is not revived. Because the call never shortens a hold, a late copy of it is harmless.
    ///
    /// # Cancel safety
    ///
    /// Safe. The hold may have been extended; extend again.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the hold is shorter than 1 ms or longer than a hundred years.
    async fn extend(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        self.attempt_extend(Attempt::first(), claim, hold).await
    }

    /// Makes one attempt of [`extend`](Self::extend).
    ///
    /// # Guarantees
    ///
    /// - ER-5: if a repeated attempt returns `Unknown`, the earlier attempts of the call become void. They extend no
    ///   later hold.
    ///
    /// # Cancel safety
    ///
    /// As for `extend`: make [one more attempt](Attempt::again) of the call.
    ///
    /// # Errors
    ///
    /// Those of `extend`. `OutcomeUnknown` if [too many](Attempt::MAX_VOID) calls of the claim are void already.
    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended>;

    /// Makes the claim's hold permanent: its item is spent.
    ///
    /// # Guarantees
    ///
    /// - IB-6: from the end of the hold on, the call returns `Ended(Expired)`, whether another claim took the item or
    ///   not. Before that it is idempotent.
    ///
    /// # Cancel safety
    ///
    /// Safe. The item may be spent; confirm again.
    async fn confirm(&self, claim: &ClaimId) -> Result<Confirmed> {
        self.attempt_confirm(Attempt::first(), claim).await
    }

    /// Makes one attempt of [`confirm`](Self::confirm).
    ///
    /// # Guarantees
    ///
    /// - ER-5: if a repeated attempt returns `Unknown`, the earlier attempts of the call become void. They spend no
    ///   item later.
    ///
    /// # Cancel safety
    ///
    /// As for `confirm`: make [one more attempt](Attempt::again) of the call.
    ///
    /// # Errors
    ///
    /// Those of `confirm`. `OutcomeUnknown` if [too many](Attempt::MAX_VOID) calls of the claim are void already.
    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed>;

    /// Ends the claim and frees its item.
    ///
    /// # Guarantees
    ///
    /// - IB-7: only the claim that holds an item frees it. The call is idempotent. The call also ends an unknown claim,
    ///   which fences the claim: a `take` of that claim that arrives later gets nothing. A confirmed claim does not
    ///   change.
    ///
    /// # Cancel safety
    ///
    /// Safe. The claim may have ended; release again.
    async fn release(&self, claim: &ClaimId) -> Result<Released>;

    /// Returns the state of the claim and its item; changes nothing.
    ///
    /// # Guarantees
    ///
    /// - IB-3, IB-6: the call reads the state after the last acknowledged call, by the store's clock.
    async fn get(&self, claim: &ClaimId) -> Result<ClaimState>;

    /// Returns how many items are free, held, spent and withdrawn.
    ///
    /// # Guarantees
    ///
    /// - IB-10: the numbers are exact when no call is in progress.
    async fn counts(&self) -> Result<Counts>;

    /// Forgets an ended or confirmed claim, so that its id can be used again. The item of a confirmed claim stays
    /// spent.
    ///
    /// # Guarantees
    ///
    /// - IB-7: a claim that holds an item is not forgotten. The caller must make sure that no earlier call of this
    ///   claim is still in progress, a lost attempt of `retire` included, because the fence against it is deleted as
    ///   well.
    ///
    /// # Cancel safety
    ///
    /// Safe. The claim may have been forgotten; retire again.
    async fn retire(&self, claim: &ClaimId) -> Result<Retired> {
        self.attempt_retire(Attempt::first(), claim).await
    }

    /// Makes one attempt of [`retire`](Self::retire).
    ///
    /// # Guarantees
    ///
    /// - ER-5: if a repeated attempt returns `Holding`, the earlier attempts of the call become void. They do not
    ///   forget the claim after the claim has ended.
    ///
    /// # Cancel safety
    ///
    /// As for `retire`: make [one more attempt](Attempt::again) of the call.
    ///
    /// # Errors
    ///
    /// Those of `retire`. `OutcomeUnknown` if [too many](Attempt::MAX_VOID) calls of the claim are void already.
    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired>;

    /// Returns where an item is, and which claim has it.
    ///
    /// # Guarantees
    ///
    /// - IB-1: the result names at most one holder.
    async fn holder(&self, item: &Item) -> Result<ItemState>;

    /// Lists the items of the bank with their states, in pages of at most `limit` entries.
    ///
    /// # Guarantees
    ///
    /// - IB-10: an item that does not change during the listing is listed exactly once.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the limit is 0 or the cursor cannot be read.
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>>;

    /// Sets free items aside, so that no claim takes them. Held and spent items do not change.
    ///
    /// # Guarantees
    ///
    /// - IB-2: the bank still knows a withdrawn item. If a `withdraw` and a `restore` of an item are in progress at
    ///   once, the later call decides: both set a state, and neither can lose or double an item. A lost attempt that is
    ///   still in progress after its retry was answered counts as the later call.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been withdrawn; withdraw again.
    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn>;

    /// Frees withdrawn items. All other items do not change.
    ///
    /// # Guarantees
    ///
    /// - IB-2, IB-5: the call never frees a held or spent item.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been restored; restore again.
    async fn restore(&self, items: &[Item]) -> Result<Restored>;
}

/// The result of `add` on a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Items that are new to the bank.
    pub added: u64,
    /// Distinct items that the bank already knew, in any state.
    pub already_present: u64,
}

impl std::ops::AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.added += other.added;
        self.already_present += other.already_present;
    }
}

/// An item held by a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The item.
    pub item: Item,
    /// How long the claim holds it.
    pub hold: HoldState,
}

/// How long a claim still holds its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldState {
    /// Until the claim is released.
    Forever,
    /// For this time after the store's answer, by the store's clock.
    Remaining(Duration),
    /// Permanently: the item is spent.
    Confirmed,
}

/// Why a claim has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The claim was released, before or after it took an item.
    Released,
    /// The hold expired.
    Expired,
}

/// The outcome of `take` on a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the claim may have got no item"]
pub enum Taken {
    /// The claim now holds an item.
    New(Held),
    /// The claim held this item already.
    Again(Held),
    /// No item was free throughout the call. The claim may take an item in a later call.
    Empty,
    /// The claim has ended and can no longer take an item.
    Ended(End),
}

impl Taken {
    /// Returns the item that the claim holds, new or again.
    pub fn item(&self) -> Option<&Item> {
        match self {
            Self::New(held) | Self::Again(held) => Some(&held.item),
            Self::Empty | Self::Ended(_) => None,
        }
    }
}

/// The outcome of `extend` on a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the hold may have ended"]
pub enum Extended {
    /// The hold lasts at least as long as requested.
    Extended(Held),
    /// The hold is already permanent.
    Confirmed(Held),
    /// The hold has ended and stays ended.
    Ended(End),
    /// The claim never took an item.
    Unknown,
}

/// The outcome of `confirm` on a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the claim may have ended before"]
pub enum Confirmed {
    /// The item is spent, by this call or an earlier one.
    Confirmed(Item),
    /// The claim ended before; another claim may hold its item by now.
    Ended(End),
    /// The claim never took an item.
    Unknown,
}

/// The outcome of `release` on a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the claim may have been confirmed before"]
pub enum Released {
    /// The claim has ended, by this call or an earlier one, and holds nothing.
    Released,
    /// The hold expired before.
    Expired,
    /// The claim was confirmed before; its item stays spent.
    Confirmed,
}

/// The state of a claim, from `get`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// The bank does not remember the claim.
    Unknown,
    /// The claim holds an item, confirmed or not.
    Held(Held),
    /// The claim has ended.
    Ended(End),
}

/// The numbers of items in a bank, from `counts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Items that the next `take` may get, including items whose hold has expired.
    pub free: u64,
    /// Items that a claim holds and has not confirmed.
    pub held: u64,
    /// Confirmed items.
    pub spent: u64,
    /// Items that were set aside.
    pub withdrawn: u64,
}

impl Counts {
    /// Returns the number of all items that were ever added (IB-2).
    pub fn total(&self) -> u64 {
        self.free + self.held + self.spent + self.withdrawn
    }
}

/// The outcome of `retire` on a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the claim may hold an item"]
pub enum Retired {
    /// The claim is forgotten and its id can be used again.
    Retired,
    /// The claim holds an item: release or confirm it first.
    Holding,
    /// The bank does not remember the claim.
    Unknown,
}

/// Where an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemState {
    /// The bank never had the item.
    Unknown,
    /// The item can be taken.
    Free,
    /// This claim holds the item.
    Held(ClaimId),
    /// A claim confirmed the item; `None` if that claim was retired.
    Spent(Option<ClaimId>),
    /// The item was withdrawn, so no claim can take it.
    Withdrawn,
}

/// One entry of `list` on a bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedItem {
    /// The item.
    pub item: Item,
    /// Where it is; never `Unknown`.
    pub state: ItemState,
}

/// The result of `withdraw` on a bank, in distinct items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Withdrawn {
    /// Items that were free and are now withdrawn.
    pub withdrawn: u64,
    /// Items that were already withdrawn.
    pub already_withdrawn: u64,
    /// Held or spent items, which do not change.
    pub in_use: u64,
    /// Items that the bank does not know.
    pub unknown: u64,
}

/// The result of `restore` on a bank, in distinct items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Items that were withdrawn and are now free.
    pub restored: u64,
    /// Free, held or spent items, which do not change.
    pub not_withdrawn: u64,
    /// Items that the bank does not know.
    pub unknown: u64,
}
