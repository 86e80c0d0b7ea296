//! A named box of items, each handed out to one claim (article 1).

use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::page::{Cursor, Page};
use crate::time::Hold;
use crate::value::{ClaimId, Item};

/// A box of strings from which each claim takes one, and always the same one.
///
/// One bank and one kind of id: call [`assign`](ItemBankExt::assign), and that is all. It is the whole algorithm
/// of article 1 in one atomic step. For several banks, or a bank and its records in different stores, there is
/// the [`Deduplicator`](crate::Deduplicator).
///
/// # Guarantees
///
/// - IB-1 *exclusive*: at any moment an item is held by at most one claim, however many processes take at once.
/// - IB-2 *conserved*: every item added is free, held, spent or withdrawn at every moment, through every crash,
///   dropped future and lost reply, because each transition is one atomic step of the store.
/// - IB-9 *no order is promised*; where the store has several writers, takers do not queue behind one another.
///
/// # Cancel safety
///
/// Every method is one atomic step, so a dropped future leaves it wholly done or wholly not done. Call again with
/// the same claim to learn which.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{BackendExt, Item, ItemBank, ItemBankExt, Taken};
/// use storagebox_memory::MemoryStore;
///
/// let bank = MemoryStore::new().bank("vouchers")?;
/// bank.add(&[Item::new("SAVE-10")?]).await?;
///
/// let first = bank.assign("ada@example.com").await?;
/// let again = bank.assign("ada@example.com").await?;
/// assert_eq!(first.item(), again.item());
/// assert!(matches!(bank.assign("bob@example.com").await?, Taken::Empty));
/// # Ok(()) }
/// ```
#[async_trait]
pub trait ItemBank: Send + Sync {
    /// Puts items into the bank; those that it knows already are left as they are.
    ///
    /// # Guarantees
    ///
    /// - IB-5 *idempotent*: an item that is free, held, spent or withdrawn is not changed, so a load that died
    ///   half-way is simply run again. Duplicates within one call count once.
    /// - IB-8 *any size*: a call may hold any number of items, none included; work per step is bounded.
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
    /// One call is one atomic step only up to the backend's batch size; larger ones are cut.
    async fn add(&self, items: &[Item]) -> Result<Added>;

    /// Takes a free item for the claim, or answers the one that the claim holds.
    ///
    /// # Guarantees
    ///
    /// - IB-3 *same claim, same item*: a claim that holds an item gets it again, also from an empty bank; nothing
    ///   is taken and its hold does not change.
    /// - IB-4 *`Empty` is true*: only if no item stayed free throughout the call; a lapsed hold counts as free.
    ///   Throttled, unreachable and timed out are errors.
    /// - IB-7 *an ended claim takes nothing*, however late the call lands.
    ///
    /// # Cancel safety
    ///
    /// Safe. The claim may hold an item; take again with the same claim to learn which, or release it.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the hold is shorter than 1 ms or longer than a hundred years.
    async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken>;

    /// Makes a hold last longer: until now plus the given time, or for ever. It never shortens one.
    ///
    /// # Guarantees
    ///
    /// - IB-6: a hold that has lapsed is not revived. Never shortening makes a late copy of the call harmless.
    ///
    /// # Cancel safety
    ///
    /// Safe. The hold may have been extended; extend again.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the hold is shorter than 1 ms or longer than a hundred years.
    async fn extend(&self, claim: &ClaimId, hold: Hold) -> Result<Extended>;

    /// Makes the claim's hold permanent: its item is spent.
    ///
    /// # Guarantees
    ///
    /// - IB-6: at the end of the hold and later it says `Ended(Expired)`, whether the item was retaken or not.
    ///   Before that it is idempotent.
    ///
    /// # Cancel safety
    ///
    /// Safe. The item may be spent; confirm again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn confirm(&self, claim: &ClaimId) -> Result<Confirmed>;

    /// Ends the claim and frees its item.
    ///
    /// # Guarantees
    ///
    /// - IB-7: only the claim that holds an item frees it. It is idempotent. An unknown claim is ended as well,
    ///   which fences it: a `take` of it that lands later gets nothing. A confirmed claim is not changed.
    ///
    /// # Cancel safety
    ///
    /// Safe. The claim may have ended; release again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn release(&self, claim: &ClaimId) -> Result<Released>;

    /// What the claim is and holds; changes nothing.
    ///
    /// # Guarantees
    ///
    /// - IB-3, IB-6: it reads what the last acknowledged call left, judged by the store's clock.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn get(&self, claim: &ClaimId) -> Result<ClaimState>;

    /// How many items are free, held, spent and withdrawn.
    ///
    /// # Guarantees
    ///
    /// - IB-10: exact when nothing is running.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn counts(&self) -> Result<Counts>;
}

/// What an operator does with a bank.
///
/// # Guarantees
///
/// - IB-2, IB-5: nothing here frees an item that is held or spent, because its holder may have been told of it.
///
/// # Cancel safety
///
/// As for [`ItemBank`]: call again.
///
/// # Errors
///
/// As for [`ItemBank`].
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{BackendExt, BankAdmin, Item, ItemBank, ItemBankExt, ItemState};
/// use storagebox_memory::MemoryStore;
///
/// let bank = MemoryStore::new().bank("vouchers")?;
/// let code = Item::new("SAVE-10")?;
/// bank.add(std::slice::from_ref(&code)).await?;
/// bank.assign("ada@example.com").await?;
/// assert!(matches!(bank.holder(&code).await?, ItemState::Held(_)));
/// # Ok(()) }
/// ```
#[async_trait]
pub trait BankAdmin: ItemBank {
    /// Forgets an ended or confirmed claim, so that its id may be used anew; a confirmed one's item stays spent.
    ///
    /// # Guarantees
    ///
    /// - IB-7: a claim that holds an item is not forgotten. The caller vouches that no earlier call of this claim
    ///   is still under way, because the fence against it goes as well.
    ///
    /// # Cancel safety
    ///
    /// Safe. The claim may have been forgotten; retire again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn retire(&self, claim: &ClaimId) -> Result<Retired>;

    /// Where an item is, and who has it.
    ///
    /// # Guarantees
    ///
    /// - IB-1: it names at most one holder.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn holder(&self, item: &Item) -> Result<ItemState>;

    /// The items of the bank with their states, a page at a time; at most `limit` entries.
    ///
    /// # Guarantees
    ///
    /// - IB-10: an item that does not change while the listing is read is shown exactly once.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a limit of 0 or a cursor that this bank did not make.
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>>;

    /// Sets free items aside, so that nobody takes them; held and spent ones are left as they are.
    ///
    /// # Guarantees
    ///
    /// - IB-2: a withdrawn item is still known to the bank. Of a withdrawal and a restoral that are under way at
    ///   once, the one that lands last decides: both name a state, neither can lose or double an item.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been withdrawn; withdraw again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn>;

    /// Frees withdrawn items; all others are left as they are.
    ///
    /// # Guarantees
    ///
    /// - IB-2, IB-5: a held or spent item is never freed by it.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been restored; restore again.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn restore(&self, items: &[Item]) -> Result<Restored>;
}

/// Sugar for every [`ItemBank`].
pub trait ItemBankExt: ItemBank {
    /// Article 1 in one call: the same id gets the same item, for ever, in one atomic step.
    ///
    /// # Guarantees
    ///
    /// - IB-1, IB-3, IB-4: those of [`take`](ItemBank::take) with [`Hold::Forever`].
    ///
    /// # Cancel safety
    ///
    /// Safe. Assign again with the same id.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the id is empty, over 512 bytes or holds U+0000.
    fn assign<C>(&self, id: C) -> impl Future<Output = Result<Taken>> + Send
    where
        C: TryInto<ClaimId>,
        Error: From<C::Error>,
    {
        self.take_for(id, Hold::Forever)
    }

    /// [`take`](ItemBank::take) with any text as the claim.
    ///
    /// # Guarantees
    ///
    /// Those of [`take`](ItemBank::take).
    ///
    /// # Cancel safety
    ///
    /// Safe. Take again with the same claim.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the claim is empty, over 512 bytes or holds U+0000, or if the hold is out of range.
    fn take_for<C>(&self, claim: C, hold: Hold) -> impl Future<Output = Result<Taken>> + Send
    where
        C: TryInto<ClaimId>,
        Error: From<C::Error>,
    {
        let claim = claim.try_into().map_err(Error::from);
        async move { self.take(&claim?, hold).await }
    }
}

impl<B: ItemBank + ?Sized> ItemBankExt for B {}

/// What [`ItemBank::add`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Items that are new to the bank.
    pub added: u64,
    /// Distinct items that it knew already, in whatever state.
    pub already_present: u64,
}

impl std::ops::AddAssign for Added {
    fn add_assign(&mut self, other: Self) {
        self.added += other.added;
        self.already_present += other.already_present;
    }
}

/// An item in the hands of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The item.
    pub item: Item,
    /// How long the claim has it.
    pub hold: HoldState,
}

/// How long a claim still has its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldState {
    /// Until it is released.
    Forever,
    /// For this long by the store's clock, as it was when it answered.
    Remaining(Duration),
    /// For good: the item is spent.
    Confirmed,
}

/// Why a claim has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was released, before or after it took an item.
    Released,
    /// Its hold ran out.
    Expired,
}

/// The outcome of [`ItemBank::take`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the claim may have got no item"]
pub enum Taken {
    /// The claim now holds an item.
    New(Held),
    /// The claim held this item already.
    Again(Held),
    /// No item was free throughout the call; nothing is remembered of it.
    Empty,
    /// The claim has ended and takes nothing any more.
    Ended(End),
}

impl Taken {
    /// The item that the claim holds, new or again.
    pub fn item(&self) -> Option<&Item> {
        match self {
            Self::New(held) | Self::Again(held) => Some(&held.item),
            Self::Empty | Self::Ended(_) => None,
        }
    }
}

/// The outcome of [`ItemBank::extend`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the hold may have ended"]
pub enum Extended {
    /// The hold lasts at least as long as was asked for.
    Extended(Held),
    /// It is permanent already.
    Confirmed(Held),
    /// It has ended and stays so.
    Ended(End),
    /// The claim never took an item.
    Unknown,
}

/// The outcome of [`ItemBank::confirm`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the claim may have ended before"]
pub enum Confirmed {
    /// The item is spent, by this call or an earlier one.
    Confirmed(Item),
    /// The claim ended before; its item may be another's by now.
    Ended(End),
    /// The claim never took an item.
    Unknown,
}

/// The outcome of [`ItemBank::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the claim may have been confirmed before"]
pub enum Released {
    /// The claim is ended, by this call or an earlier one, and holds nothing.
    Released,
    /// Its hold ran out before.
    Expired,
    /// It was confirmed before; its item stays spent.
    Confirmed,
}

/// What [`ItemBank::get`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// The bank remembers no such claim.
    Unknown,
    /// It holds an item, confirmed or not.
    Held(Held),
    /// It has ended.
    Ended(End),
}

/// What [`ItemBank::counts`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Items that the next `take` may get; those whose hold ran out are among them.
    pub free: u64,
    /// Items held by a claim and not confirmed.
    pub held: u64,
    /// Items confirmed.
    pub spent: u64,
    /// Items set aside.
    pub withdrawn: u64,
}

impl Counts {
    /// All items that were ever added (IB-2).
    pub fn total(&self) -> u64 {
        self.free + self.held + self.spent + self.withdrawn
    }
}

/// The outcome of [`BankAdmin::retire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the claim may hold an item"]
pub enum Retired {
    /// The claim is forgotten and its id may be used anew.
    Retired,
    /// It holds an item: release or confirm it first.
    Holding,
    /// The bank remembers no such claim.
    Unknown,
}

/// Where an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemState {
    /// The bank never had it.
    Unknown,
    /// It may be taken.
    Free,
    /// A claim holds it.
    Held(ClaimId),
    /// A claim confirmed it; `None` once that claim was retired.
    Spent(Option<ClaimId>),
    /// It is set aside.
    Withdrawn,
}

/// One entry of [`BankAdmin::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedItem {
    /// The item.
    pub item: Item,
    /// Where it is; never `Unknown`.
    pub state: ItemState,
}

/// What [`BankAdmin::withdraw`] did, in distinct items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Withdrawn {
    /// Free before, withdrawn now.
    pub withdrawn: u64,
    /// Withdrawn before.
    pub already_withdrawn: u64,
    /// Held or spent, and left so.
    pub in_use: u64,
    /// Not known to the bank.
    pub unknown: u64,
}

/// What [`BankAdmin::restore`] did, in distinct items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Withdrawn before, free now.
    pub restored: u64,
    /// Free, held or spent, and left so.
    pub not_withdrawn: u64,
    /// Not known to the bank.
    pub unknown: u64,
}
