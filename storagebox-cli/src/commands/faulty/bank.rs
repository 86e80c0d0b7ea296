//! A bank that breaks its promises, or that only answers badly.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox::bank::Hold;
use storagebox::bank::{ClaimState, Counts, HoldState, ItemState, ListedItem};
use storagebox::layer::{Answered, Call, Layer, LayeredPart, Next};
use storagebox::values::{ClaimId, Item};
use storagebox::{Cursor, Error, ErrorKind, Page, Result, async_trait, parts::ItemBank};

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
    /// As other programs have it.
    inner: Arc<dyn ItemBank>,
    fault: Fault,
    calls: AtomicU64,
    longest_add: AtomicU64,
}

impl FaultyBank {
    /// The bank with a fault, as those have it who are tested.
    #[allow(clippy::new_ret_no_self, reason = "the layer alone is of use to few")]
    pub(crate) fn new(inner: Arc<dyn ItemBank>, fault: Fault) -> LayeredPart<dyn ItemBank> {
        Self::watched(inner, fault).0
    }

    /// The same, and the layer, which tells what passed through it.
    pub(crate) fn watched(inner: Arc<dyn ItemBank>, fault: Fault) -> (LayeredPart<dyn ItemBank>, Arc<Self>) {
        let (calls, longest_add) = (AtomicU64::new(0), AtomicU64::new(0));
        let layer = Arc::new(Self { inner: Arc::clone(&inner), fault, calls, longest_add });
        (LayeredPart::new(inner, Arc::clone(&layer) as _), layer)
    }

    /// The most items of one call.
    pub(crate) fn longest_add(&self) -> u64 {
        self.longest_add.load(Ordering::Relaxed)
    }

    /// Looks at the call before it is made, and does what another program does at that moment.
    async fn precede(&self, call: &Call<'_>) -> Result<()> {
        match (call.operation, self.fault) {
            ("add", _) => {
                let items = call.argument::<Vec<Item>>().map_or(0, |items| items.len() as u64);
                self.longest_add.fetch_max(items, Ordering::Relaxed);
            }
            ("take", Fault::IsTakenFrom) => self.take_for("mallory".to_owned()).await?,
            ("counts", Fault::IsGivenFrom) => {
                self.take_for(format!("late-{}", self.calls.load(Ordering::Relaxed))).await?;
            }
            ("get", Fault::IsAtWork) => {
                if let Some(claim) = call.argument::<ClaimId>() {
                    let _ = self.inner.release(&claim).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    async fn take_for(&self, another: String) -> Result<()> {
        self.inner.take(&ClaimId::new(another)?, Hold::Forever).await.map(drop)
    }

    async fn drib(&self, cursor: Option<Cursor>) -> Result<Page<ListedItem>> {
        match cursor {
            None => Ok(Page { entries: vec![], next: Some(Cursor::new("start")) }),
            Some(start) if start.as_str() == "start" => self.inner.list(None, 1).await,
            cursor => self.inner.list(cursor.as_ref(), 1).await,
        }
    }

    fn tamper(&self, answered: Answered) -> Answered {
        answered
            .map(|counts: &mut Counts| counts.withdrawn += u64::from(self.fault == Fault::CountsOneMore))
            .map(|page: &mut Page<ListedItem>| self.tamper_with_entries(&mut page.entries))
            .map(|state: &mut ClaimState| self.tamper_with_state(state))
    }

    fn tamper_with_entries(&self, entries: &mut Vec<ListedItem>) {
        match (self.fault, entries.last().cloned()) {
            (Fault::ListsOneTwice, Some(last)) => entries[0] = last,
            (Fault::ListsOneLess, _) => drop(entries.pop()),
            (Fault::ListsWithoutState, Some(_)) => entries[0].state = ItemState::Unknown,
            _ => {}
        }
    }

    fn tamper_with_state(&self, state: &mut ClaimState) {
        match (self.fault, state) {
            (Fault::ForgetsClaims, state) => *state = ClaimState::Unknown,
            (Fault::ShowsAnother, ClaimState::Held(held)) => held.item = Item::new("ANOTHER").unwrap(),
            (Fault::ForgetsConfirming, ClaimState::Held(held)) => held.hold = HoldState::Forever,
            _ => {}
        }
    }

    fn reply(&self, answer: Answered) -> Result<Answered> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::LosesReplies if call.is_multiple_of(2) => Err(Error::unknown("the reply was lost")),
            Fault::StopsAt(last) if call >= last => Err(Error::new(ErrorKind::Denied, "the program was killed")),
            Fault::Denies => Err(Error::new(ErrorKind::Denied, "no right to it")),
            _ => Ok(answer),
        }
    }
}

#[async_trait]
impl Layer for FaultyBank {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        self.precede(call).await?;
        let answered = match (call.operation, self.fault) {
            ("list", Fault::ListsInDribs) => {
                Answered::of(self.drib(call.argument::<Option<Cursor>>().flatten()).await?)
            }
            ("extend" | "retire", _) => return next.call().await,
            _ => next.call().await?,
        };
        self.reply(self.tamper(answered))
    }
}

impl fmt::Debug for FaultyBank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyBank").field("fault", &self.fault).finish_non_exhaustive()
    }
}
