//! Assigns one item per id from several banks, or from a bank and a repository in different stores (article 1).

mod record;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::contract::dedup_repo::{DedupRepo, Entry, Recorded, Replaced};
use crate::contract::item_bank::{ItemBank, Released, Taken};
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::ids::{Ids, RandomIds};
use crate::values::page::Cursor;
use crate::values::time::{Hold, Retention};
use crate::values::value::{DedupId, Item, Namespace, OpId};

use record::{Intent, State};

/// The maximum number of steps in one call. A call that needs more steps returns `Contention`.
const MAX_STATES: usize = 64;

/// The composition of article 1: one deduplication record over several banks, or a bank and a record in different
/// stores.
///
/// For a single bank, call the bank's `take` with [`Hold::Forever`]: it is one atomic step.
///
/// The record is the commit point. Its state changes from `intent(bank, nonce)` to `assigned(bank, item)`. If the bank
/// is empty, its state changes from `intent` to `giving up` to the next intent, or to nothing. The claim on the bank
/// consists of the id and the nonce, so it is the same for all callers of one intent, and a caller that loses has
/// nothing to release. Giving up is recorded first. Then the claim is released, which fences it. Only then may the id
/// choose another bank. Any caller that finds a record in any state continues from there.
///
/// # Guarantees
///
/// - A-1 the same id gets the same item of one bank.
/// - A-2 an id never gets two items, and two ids never get the same item.
/// - A-3 a crash after any step loses nothing: a retry resumes, and [`recover`](Deduplicator::recover) finishes
///   abandoned records.
/// - A-4 an id whose bank was empty may choose another bank.
///
/// Requirement: the banks remember ended claims for longer than any call lasts. A call that sleeps longer, in a machine
/// that was suspended, may leave an item held that no record names.
///
/// # Cancel safety
///
/// Dropping a call at any point is the same as a crash after some step: call again with the same id.
///
/// # Errors
///
/// An error after the first step has the certainty `Unknown`, because another caller may continue the step.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use storagebox::{Assigned, Store};
///
/// let store = Store::open("memory:").await?;
/// store.bank("friday")?.add(["seat-50"]).await?;
/// let seats = store.deduplicator("students", ["monday", "friday"])?;
///
/// assert_eq!(seats.assign("ada", "monday").await?, Assigned::Empty);
/// let seat = seats.assign("ada", "friday").await?;
/// assert!(matches!(seat, Assigned::New { .. }));
/// assert!(matches!(seats.assign("ada", "monday").await?, Assigned::Again { bank, .. } if bank.as_str() == "friday"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Deduplicator {
    records: Arc<dyn DedupRepo>,
    banks: BTreeMap<Namespace, Arc<dyn ItemBank>>,
    ids: Arc<dyn Ids>,
}

impl std::fmt::Debug for Deduplicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deduplicator").field("banks", &self.banks.keys()).finish_non_exhaustive()
    }
}

/// The outcome of [`Deduplicator::assign`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the bank may have been empty"]
pub enum Assigned {
    /// This call assigned the item.
    New {
        /// The bank that the item came from.
        bank: Namespace,
        /// The item.
        item: Item,
    },
    /// The item was assigned before, perhaps from another bank than the requested one.
    Again {
        /// The bank that the item came from.
        bank: Namespace,
        /// The item.
        item: Item,
    },
    /// The requested bank is empty and the id has no item. A later call may choose another bank.
    Empty,
}

impl Assigned {
    /// Returns the item, whether it is new or was assigned before.
    pub fn item(&self) -> Option<&Item> {
        match self {
            Self::New { item, .. } | Self::Again { item, .. } => Some(item),
            Self::Empty => None,
        }
    }
}

/// The result of [`Deduplicator::recover`], or of [`OneTimeTokens::recover`](crate::OneTimeTokens::recover), for one
/// page of records.
#[derive(Debug, Default)]
#[must_use = "some records may have failed, and `next` may be a further page"]
pub struct Recovery {
    /// The number of records read.
    pub seen: u64,
    /// The number of abandoned records that now have their item, or of commits that are now finished.
    pub finished: u64,
    /// The number of abandoned records whose bank was empty; they now hold nothing.
    pub given_up: u64,
    /// The errors of the records that cannot be finished, one for each. They stay as they are.
    pub failed: Vec<Error>,
    /// The cursor of the next page, or `None` at the end.
    pub next: Option<Cursor>,
}

impl Recovery {
    /// Adds the error of a record. Returns an error that other records of the page would meet too.
    pub(super) fn add_failed(&mut self, error: Error) -> Result<()> {
        match error.kind() {
            ErrorKind::Corrupt | ErrorKind::InvalidInput | ErrorKind::Misconfigured => {
                self.failed.push(error);
                Ok(())
            }
            _ => Err(error.after_unresolved()),
        }
    }
}

impl Deduplicator {
    /// Creates a deduplicator that stores its records in `records` and has no bank yet. The repository must be used for
    /// nothing else.
    pub fn new(records: Arc<dyn DedupRepo>) -> Self {
        Self { records, banks: BTreeMap::new(), ids: Arc::new(RandomIds) }
    }

    /// Adds a bank under a name. The name is stored in the records, so it must never change.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the name is empty, over 512 bytes or contains U+0000.
    pub fn bank<N>(mut self, name: N, bank: Arc<impl ItemBank + ?Sized + 'static>) -> Result<Self>
    where
        N: TryInto<Namespace>,
        Error: From<N::Error>,
    {
        self.banks.insert(name.try_into()?, Arc::new(bank));
        Ok(self)
    }

    /// Sets the source of nonces. Defaults to [`RandomIds`].
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Assigns an item of the bank to the id, or returns the item that the id already has.
    ///
    /// # Guarantees
    ///
    /// - A-1 to A-4 above. An id with an item gets that item, whichever bank the call names.
    /// - `Empty` is true for the requested bank, as in IB-4.
    ///
    /// # Cancel safety
    ///
    /// Safe. Assign again with the same id.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if this deduplicator does not have the bank, even if the record names it. `Contention` if other
    /// callers changed the record 64 times during the call.
    pub async fn assign<I, N>(&self, id: I, bank: N) -> Result<Assigned>
    where
        I: TryInto<DedupId>,
        N: TryInto<Namespace>,
        Error: From<I::Error> + From<N::Error>,
    {
        let (id, bank) = (id.try_into()?, bank.try_into()?);
        self.bank_named(&bank)?;
        let mut call = Assignment { dedup: self, id: &id, wanted: Some(&bank), found_empty: false, wrote: None };
        let first = call.open(&bank).await?;
        call.carry_on(first).await.map_err(Error::after_unresolved)
    }

    /// Finishes the records that crashed callers left behind, one page at a time: each record gets its item or gives
    /// up.
    ///
    /// # Guarantees
    ///
    /// - A-3: afterwards no record of the page is in an intermediate state but those that [`failed`](Recovery::failed):
    ///   their bank is not one of this deduplicator, or they cannot be read. Live callers are not disturbed: they
    ///   continue from the new state.
    ///
    /// # Cancel safety
    ///
    /// Safe. Recover again from the same cursor.
    ///
    /// # Errors
    ///
    /// The errors of the stores. Records of the page that were finished before an error stay finished, so the certainty
    /// is then `Unknown`.
    pub async fn recover(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Recovery> {
        let page = self.records.list(cursor, limit).await?;
        let mut recovery = Recovery { next: page.next, ..Recovery::default() };
        for listed in page.entries {
            recovery.seen += 1;
            match self.recovered(&listed.id, &listed.entry).await {
                Ok(None) => {}
                Ok(Some(Assigned::Empty)) => recovery.given_up += 1,
                Ok(Some(Assigned::New { .. } | Assigned::Again { .. })) => recovery.finished += 1,
                Err(error) => recovery.add_failed(error)?,
            }
        }
        Ok(recovery)
    }

    /// Finishes a record. Returns `None` if nothing was left to do.
    async fn recovered(&self, id: &DedupId, entry: &Entry) -> Result<Option<Assigned>> {
        let observed = Observed::read(id, entry)?;
        if !observed.state.is_abandoned() {
            return Ok(None);
        }
        let mut call = Assignment { dedup: self, id, wanted: None, found_empty: true, wrote: None };
        call.carry_on(observed).await.map(Some).map_err(Error::after_unresolved)
    }

    fn bank_named(&self, name: &Namespace) -> Result<&Arc<dyn ItemBank>> {
        let known = || self.banks.keys().map(Namespace::as_str).collect::<Vec<_>>().join(", ");
        self.banks.get(name).ok_or_else(|| Error::invalid("bank", format_args!("{name:?} is not one of: {}", known())))
    }
}

/// The state of a record, with the version that the next compare-and-set expects.
struct Observed {
    state: State,
    version: crate::contract::dedup_repo::Version,
}

impl Observed {
    fn read(id: &DedupId, entry: &Entry) -> Result<Self> {
        let state = State::decode(&entry.value)
            .map_err(|error| Error::corrupt(format_args!("the record of {id:?}"), &error).caused_by(error))?;
        Ok(Self { state, version: entry.version })
    }
}

/// The result of one step: the answer of the call, or the record for the next step.
enum Step {
    Answer(Assigned),
    Continue(Observed),
}

/// The progress of the assignment of one id, in a call of `assign` or `recover`.
struct Assignment<'a> {
    dedup: &'a Deduplicator,
    id: &'a DedupId,
    wanted: Option<&'a Namespace>,
    /// Whether the wanted bank was empty at some moment during this call.
    found_empty: bool,
    /// The last intent that this call created.
    wrote: Option<Intent>,
}

impl Assignment<'_> {
    /// Records that the id is to get an item of `bank`, or reads the existing record of the id.
    async fn open(&mut self, bank: &Namespace) -> Result<Observed> {
        let intent = self.intend(bank);
        let op = OpId::new(intent.nonce.as_str())?;
        let state = State::Intent(intent);
        match self.dedup.records.record(self.id, &state.encode()?, &op, Retention::Forever).await? {
            Recorded::New(version) => Ok(Observed { state, version }),
            Recorded::Again(entry) | Recorded::Existing(entry) => Observed::read(self.id, &entry),
            Recorded::InFlight { .. } | Recorded::Fenced => {
                Err(Error::misconfigured("dedup repository", "is also used by other code").with("id", self.id))
            }
        }
    }

    fn intend(&mut self, bank: &Namespace) -> Intent {
        let intent = Intent { bank: bank.clone(), nonce: self.dedup.ids.fresh() };
        self.wrote = Some(intent.clone());
        intent
    }

    async fn carry_on(&mut self, mut observed: Observed) -> Result<Assigned> {
        for _ in 0..MAX_STATES {
            match self.step(observed).await? {
                Step::Answer(assigned) => return Ok(assigned),
                Step::Continue(next) => observed = next,
            }
        }
        Err(Error::new(ErrorKind::Contention, "other callers kept changing the record").with("id", self.id))
    }

    async fn step(&mut self, observed: Observed) -> Result<Step> {
        match observed.state {
            State::Assigned { ref intent, ref item } => {
                Ok(Step::Answer(Assigned::Again { bank: intent.bank.clone(), item: item.clone() }))
            }
            State::Intent(ref intent) => self.take(intent, &observed).await,
            State::GivingUp(ref intent) => self.give_up(intent, &observed).await,
            State::Nothing => self.choose(&observed).await,
        }
    }

    async fn take(&mut self, intent: &Intent, observed: &Observed) -> Result<Step> {
        let bank = self.dedup.bank_named(&intent.bank)?;
        match bank.take(&intent.claim(self.id)?, Hold::Forever).await? {
            Taken::New(held) | Taken::Again(held) => self.commit(intent, held.item, observed).await,
            Taken::Empty => {
                self.found_empty |= self.wanted == Some(&intent.bank);
                self.replace(observed, State::GivingUp(intent.clone())).await
            }
            // Another caller gave the intent up because it found the bank empty. If this call wrote the intent, the
            // bank was empty during this call, so this call need not look again. Two callers that always looked again
            // could loop for ever.
            Taken::Ended(_) => {
                self.found_empty |= self.wrote.as_ref() == Some(intent);
                self.replace(observed, State::GivingUp(intent.clone())).await
            }
        }
    }

    /// Records that the id has the item.
    async fn commit(&mut self, intent: &Intent, item: Item, observed: &Observed) -> Result<Step> {
        let assigned = State::Assigned { intent: intent.clone(), item: item.clone() };
        // This compare-and-set is the commit point.
        match self.compare_and_set(observed, &assigned).await? {
            Replaced::Replaced(_) => Ok(Step::Answer(Assigned::New { bank: intent.bank.clone(), item })),
            // Nothing is to be released: the caller whose compare-and-set won has the same claim.
            lost => self.after(lost, assigned).await,
        }
    }

    async fn give_up(&mut self, intent: &Intent, observed: &Observed) -> Result<Step> {
        let bank = self.dedup.bank_named(&intent.bank)?;
        let claim = intent.claim(self.id)?;
        if let Released::Confirmed = bank.release(&claim).await? {
            return Err(Error::corrupt(format_args!("the claim {claim:?}"), "it was confirmed by other code"));
        }
        self.choose(observed).await
    }

    /// Records that the id is to get an item of the wanted bank. Records `Nothing` if no bank is wanted or if the
    /// wanted bank was empty.
    async fn choose(&mut self, observed: &Observed) -> Result<Step> {
        match self.wanted {
            Some(bank) if !self.found_empty => {
                let intent = self.intend(bank);
                self.replace(observed, State::Intent(intent)).await
            }
            _ => self.leave(observed).await,
        }
    }

    async fn leave(&mut self, observed: &Observed) -> Result<Step> {
        if let State::Nothing = observed.state {
            return Ok(Step::Answer(Assigned::Empty));
        }
        self.replace(observed, State::Nothing).await
    }

    async fn replace(&mut self, observed: &Observed, next: State) -> Result<Step> {
        let replaced = self.compare_and_set(observed, &next).await?;
        self.after(replaced, next).await
    }

    async fn compare_and_set(&self, observed: &Observed, next: &State) -> Result<Replaced> {
        let op = OpId::new(self.dedup.ids.fresh())?;
        self.dedup.records.replace(self.id, observed.version, &next.encode()?, &op).await
    }

    /// Returns the state of the record after a compare-and-set, which is `ours` if the compare-and-set succeeded.
    async fn after(&mut self, replaced: Replaced, ours: State) -> Result<Step> {
        Ok(Step::Continue(match replaced {
            Replaced::Replaced(version) | Replaced::Again(version) => Observed { state: ours, version },
            Replaced::Stale(Some(entry)) => Observed::read(self.id, &entry)?,
            Replaced::Stale(None) => self.open_again().await?,
        }))
    }

    /// Creates a forgotten record again. Returns `Contention` if the caller wants no bank.
    async fn open_again(&mut self) -> Result<Observed> {
        match self.wanted {
            Some(bank) => self.open(bank).await,
            None => Err(Error::new(ErrorKind::Contention, "the record was forgotten meanwhile").with("id", self.id)),
        }
    }
}
