//! Work for a store, with checks of its answers. A [`Caller`] makes calls of every kind with its own ids, repeats each
//! call until it is answered, and remembers the answers. There are also [waves] of calls on one bank, and [refusals].

pub mod refusals;
pub mod waves;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_core::{
    Backend, Change, ClaimId, ClaimState, Confirmed, Consumed, Counted, Counter, DedupId, DedupRepo, Error, Hold,
    HoldState, Item, ItemBank, Key, OpId, OrderedOptions, OrderedStore, Payload, Recorded, Result, Retention, Stamp,
    Strategy, Taken, TokenId, TokenStore, WriterId, Written,
};
use tokio::time::sleep;

/// The pause before a call is repeated.
const PAUSE: Duration = Duration::from_millis(20);

/// The namespaces of one client.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "namespaces show nothing")]
pub struct Namespaces {
    /// Items.
    pub bank: Arc<dyn ItemBank>,
    records: Arc<dyn DedupRepo>,
    tokens: Arc<dyn TokenStore>,
    /// Counters.
    pub counters: Arc<dyn Counter>,
    ordered: Arc<dyn OrderedStore>,
}

impl Namespaces {
    /// Opens the namespaces.
    ///
    /// # Errors
    ///
    /// Returns the errors of the store.
    pub fn of(store: &dyn Backend) -> Result<Self> {
        Ok(Self {
            bank: store.item_bank(&"namespace".parse()?)?,
            records: store.dedup_repo(&"namespace".parse()?)?,
            tokens: store.token_store(&"namespace".parse()?)?,
            counters: store.counter(&"namespace".parse()?, Strategy::default())?,
            ordered: store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?,
        })
    }
}

/// A caller that makes one call after another.
#[allow(missing_debug_implementations, reason = "namespaces show nothing")]
pub struct Caller {
    namespaces: Namespaces,
    name: String,
    /// The number of answered calls of all callers.
    answered: Arc<AtomicU64>,
    /// The items that the calls returned, one per round.
    items: Vec<Item>,
}

impl Caller {
    /// Creates a caller. Its ids begin with `name`.
    pub fn new(namespaces: &Namespaces, name: String, answered: &Arc<AtomicU64>) -> Self {
        Self { namespaces: namespaces.clone(), name, answered: Arc::clone(answered), items: vec![] }
    }

    /// Returns the number of rounds made.
    pub fn rounds(&self) -> i64 {
        self.items.len() as i64
    }

    /// Makes a call of every kind, and checks each answer.
    ///
    /// # Errors
    ///
    /// Returns an error for a wrong answer, and an error that a repetition cannot resolve.
    pub async fn round(&mut self) -> Result<()> {
        let (round, id) = (self.rounds() + 1, format!("{}-{}", self.name, self.rounds() + 1));
        let item = self.take(&id).await?;
        self.record(&id).await?;
        self.consume(&id).await?;
        self.apply(&id, round).await?;
        self.put(&id, round).await?;
        self.items.push(item);
        Ok(())
    }

    /// Repeats a call until it returns an answer.
    async fn answer<T, F>(&self, mut call: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        // Needs no limit, because every fault of these tests ends.
        loop {
            match call().await {
                Ok(answer) => {
                    self.answered.fetch_add(1, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(error) if error.is_retryable() => sleep(PAUSE).await,
                Err(error) => return Err(error),
            }
        }
    }

    async fn take(&self, id: &str) -> Result<Item> {
        let (bank, claim) = (&self.namespaces.bank, ClaimId::new(id)?);
        let taken = self.answer(|| bank.take(&claim, Hold::Forever)).await?;
        let (Taken::New(held) | Taken::Again(held)) = taken else { return Err(wrong(id, taken)) };
        match self.answer(|| bank.confirm(&claim)).await? {
            Confirmed::Confirmed(item) if item == held.item => Ok(item),
            other => Err(wrong(id, other)),
        }
    }

    async fn record(&self, id: &str) -> Result<()> {
        let (records, value) = (&self.namespaces.records, Payload::try_from(id)?);
        let (id, op) = (DedupId::new(id)?, OpId::new(id)?);
        match self.answer(|| records.record(&id, &value, &op, Retention::Forever)).await? {
            Recorded::New(_) => Ok(()),
            Recorded::Again(entry) if entry.value == value => Ok(()),
            other => Err(wrong(id, other)),
        }
    }

    async fn consume(&self, id: &str) -> Result<()> {
        let (tokens, token, op) = (&self.namespaces.tokens, TokenId::new(id)?, OpId::new(id)?);
        let created = self.answer(|| tokens.create_tokens(std::slice::from_ref(&token))).await?;
        if created.gone > 0 {
            return Err(wrong(id, created));
        }
        match self.answer(|| tokens.consume(&token, &op)).await? {
            Consumed::Now | Consumed::Again => Ok(()),
            other => Err(wrong(id, other)),
        }
    }

    /// Changes a counter of this caller, and checks its value. Also changes a counter that all callers share.
    async fn apply(&self, id: &str, round: i64) -> Result<()> {
        let (counters, change) = (&self.namespaces.counters, Change::new(OpId::new(id)?, 1));
        let own = Key::new(self.name.as_str())?;
        match self.answer(|| counters.apply(&own, &change)).await? {
            Counted::Applied { value } | Counted::AlreadyApplied { value } if value == Some(round) => {}
            other => return Err(wrong(id, other)),
        }
        let shared = everybody_s();
        match self.answer(|| counters.apply(&shared, &change)).await? {
            Counted::Applied { .. } | Counted::AlreadyApplied { .. } => Ok(()),
            other => Err(wrong(id, other)),
        }
    }

    async fn put(&self, id: &str, round: i64) -> Result<()> {
        let (ordered, value) = (&self.namespaces.ordered, Payload::try_from(id)?);
        let (key, stamp) = (Key::new(self.name.as_str())?, Stamp::new(round, WriterId::new("ada")?));
        match self.answer(|| ordered.put(&key, &value, &stamp)).await? {
            Written::Applied | Written::Duplicate => Ok(()),
            other => Err(wrong(id, other)),
        }
    }

    /// Checks that the store still returns the answers that this caller got.
    async fn audit(&self) -> Result<()> {
        for (number, item) in self.items.iter().enumerate() {
            let id = format!("{}-{}", self.name, number + 1);
            match self.namespaces.bank.get(&ClaimId::new(id.as_str())?).await? {
                ClaimState::Held(held) if held.item == *item && held.hold == HoldState::Confirmed => {}
                other => return Err(wrong(id, other)),
            }
            match self.namespaces.records.get(&DedupId::new(id.as_str())?).await? {
                Some(entry) if entry.value.as_bytes() == id.as_bytes() => {}
                other => return Err(wrong(id, other)),
            }
            if self.namespaces.tokens.exists(&TokenId::new(id.as_str())?).await? {
                return Err(wrong(id, "a token that was consumed"));
            }
        }
        self.audit_last().await
    }

    async fn audit_last(&self) -> Result<()> {
        let key = Key::new(self.name.as_str())?;
        let value = self.namespaces.counters.value(&key).await?;
        if value != self.rounds() {
            return Err(wrong(&self.name, value));
        }
        match self.namespaces.ordered.get(&key).await? {
            Some(found) if found.stamp.at == self.rounds() => Ok(()),
            None if self.rounds() == 0 => Ok(()),
            other => Err(wrong(&self.name, other)),
        }
    }
}

/// Returns the key of the counter that all callers share.
pub fn everybody_s() -> Key {
    Key::new("everybody's").expect("a key")
}

fn wrong(id: impl std::fmt::Display, answer: impl std::fmt::Debug) -> Error {
    Error::unknown(format!("{id} got an unexpected answer: {answer:?}"))
}

/// Adds `count` items to the bank.
///
/// # Errors
///
/// Returns the errors of the bank.
pub async fn fill(namespaces: &Namespaces, count: usize) -> Result<()> {
    let items: Vec<_> = (0..count).map(|number| Item::new(format!("item-{number}"))).collect::<Result<_>>()?;
    namespaces.bank.add(&items).await.map(drop)
}

/// Checks the namespaces as a whole: no item is missing, no item is in two places, and the callers' sums add up.
///
/// # Errors
///
/// Returns an error if the store contradicts its answers.
///
/// # Panics
///
/// Panics if the sums do not add up.
pub async fn audit(namespaces: &Namespaces, items: usize, callers: &[Caller]) -> Result<()> {
    let rounds: i64 = callers.iter().map(Caller::rounds).sum();
    let counts = namespaces.bank.counts().await?;
    assert_eq!((counts.total(), counts.spent, counts.held), (items as u64, rounds as u64, 0));
    let mut given: Vec<_> = callers.iter().flat_map(|caller| &caller.items).collect();
    given.sort();
    given.dedup();
    assert_eq!(given.len() as i64, rounds, "items that were given");
    assert_eq!(namespaces.counters.value(&everybody_s()).await?, rounds);
    for caller in callers {
        caller.audit().await?;
    }
    Ok(())
}
