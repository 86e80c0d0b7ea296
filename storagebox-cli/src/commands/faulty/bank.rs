//! A bank that breaks its promises, or that only answers badly.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox::{
    Added, ClaimId, ClaimState, Confirmed, Counts, Cursor, Error, ErrorKind, Extended, Held, Hold, HoldState,
    Item, ItemState, ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
    parts::{BankAdmin, ItemBank},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Every call is applied, and every other reply lost.
    LosesReplies,
    /// Refuses everything.
    Denies,
    /// Begins with an empty page, and lists one entry at a time.
    ListsInDribs,
    /// Lists the last entry of a page again in place of the first.
    ListsOneTwice,
    /// Leaves out the last entry of a page.
    ListsOneLess,
    ListsWithoutState,
    CountsOneMore,
    /// Every claim shows an item that is not its own.
    ShowsAnother,
    /// No claim is known.
    ForgetsClaims,
    /// Every claim shows its item as held and no more.
    ForgetsConfirming,
    /// Another program releases each claim before it is looked at.
    IsAtWork,
    /// Applies the call of this number, and answers nothing from it on.
    StopsAt(u64),
    /// Another program takes before everyone who takes.
    IsTakenFrom,
    /// Another program takes before each count.
    IsGivenFrom,
}

pub(crate) struct FaultyBank {
    pub(crate) inner: Arc<dyn BankAdmin>,
    pub(crate) fault: Fault,
    calls: AtomicU64,
    longest_add: AtomicU64,
}

impl FaultyBank {
    pub(crate) fn new(inner: Arc<dyn BankAdmin>, fault: Fault) -> Self {
        Self { inner, fault, calls: AtomicU64::new(0), longest_add: AtomicU64::new(0) }
    }

    /// The most items of one call.
    pub(crate) fn longest_add(&self) -> u64 {
        self.longest_add.load(Ordering::Relaxed)
    }

    fn reply<T>(&self, answer: T) -> Result<T> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::LosesReplies if call.is_multiple_of(2) => Err(Error::unknown("the reply was lost")),
            Fault::StopsAt(last) if call >= last => {
                Err(Error::new(ErrorKind::Denied, "the program was killed"))
            }
            Fault::Denies => Err(Error::new(ErrorKind::Denied, "no right to it")),
            _ => Ok(answer),
        }
    }

    fn tamper(&self, entries: &mut Vec<ListedItem>) {
        match (self.fault, entries.last().cloned()) {
            (Fault::ListsOneTwice, Some(last)) => entries[0] = last,
            (Fault::ListsOneLess, _) => drop(entries.pop()),
            (Fault::ListsWithoutState, Some(_)) => entries[0].state = ItemState::Unknown,
            _ => {}
        }
    }
}

#[async_trait]
impl ItemBank for FaultyBank {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        self.longest_add.fetch_max(items.len() as u64, Ordering::Relaxed);
        let added = self.inner.add(items).await?;
        self.reply(added)
    }

    async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        if self.fault == Fault::IsTakenFrom {
            let _ = self.inner.take(&ClaimId::new("mallory")?, Hold::Forever).await?;
        }
        let taken = self.inner.take(claim, hold).await?;
        self.reply(taken)
    }

    async fn extend(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        self.inner.extend(claim, hold).await
    }

    async fn confirm(&self, claim: &ClaimId) -> Result<Confirmed> {
        let confirmed = self.inner.confirm(claim).await?;
        self.reply(confirmed)
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        let released = self.inner.release(claim).await?;
        self.reply(released)
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        if self.fault == Fault::IsAtWork {
            let _ = self.inner.release(claim).await?;
        }
        let state = match (self.fault, self.inner.get(claim).await?) {
            (Fault::ForgetsClaims, _) => ClaimState::Unknown,
            (Fault::ShowsAnother, ClaimState::Held(held)) => {
                ClaimState::Held(Held { item: Item::new("ANOTHER")?, ..held })
            }
            (Fault::ForgetsConfirming, ClaimState::Held(held)) => {
                ClaimState::Held(Held { hold: HoldState::Forever, ..held })
            }
            (_, state) => state,
        };
        self.reply(state)
    }

    async fn counts(&self) -> Result<Counts> {
        if self.fault == Fault::IsGivenFrom {
            let another = format!("late-{}", self.calls.load(Ordering::Relaxed));
            let _ = self.inner.take(&ClaimId::new(another)?, Hold::Forever).await?;
        }
        let mut counts = self.inner.counts().await?;
        counts.withdrawn += u64::from(self.fault == Fault::CountsOneMore);
        self.reply(counts)
    }
}

#[async_trait]
impl BankAdmin for FaultyBank {
    async fn retire(&self, claim: &ClaimId) -> Result<Retired> {
        self.inner.retire(claim).await
    }

    async fn holder(&self, item: &Item) -> Result<ItemState> {
        let state = self.inner.holder(item).await?;
        self.reply(state)
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let mut page = match (self.fault, cursor) {
            (Fault::ListsInDribs, None) => Page { entries: vec![], next: Some(Cursor::new("start")) },
            (Fault::ListsInDribs, Some(start)) if start.as_str() == "start" => {
                self.inner.list(None, 1).await?
            }
            (Fault::ListsInDribs, cursor) => self.inner.list(cursor, 1).await?,
            (_, cursor) => self.inner.list(cursor, limit).await?,
        };
        self.tamper(&mut page.entries);
        self.reply(page)
    }

    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        let withdrawn = self.inner.withdraw(items).await?;
        self.reply(withdrawn)
    }

    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        let restored = self.inner.restore(items).await?;
        self.reply(restored)
    }
}
