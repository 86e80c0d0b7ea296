//! Replies that are lost after the server has applied the call: the backend's own retry finds the call applied.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{
    Backend, Change, ClaimId, Consumed, Counted, Counter, DedupId, DedupRepo, Hold, Item, ItemBank, Key, OpId,
    OrderedOptions, OrderedStore, Payload, Recorded, Result, Retention, Retired, Stamp, Strategy, Taken, TokenId,
    TokenStore, WriterId, Written,
};
use tokio::task::JoinSet;

use crate::workload::{Caller, Namespaces, audit, fill};

/// The number of calls that lose their reply, one after another.
pub const CUTS: usize = 1_000;
/// The number of rounds of concurrent callers. Each round loses the reply to one call or to one batch.
const ROUNDS: usize = 100;
const CALLERS: usize = 8;

/// A client behind a proxy, or behind one proxy for each node of a cluster.
pub struct Far {
    /// The proxy of the server, or the proxies of the nodes of a cluster.
    pub proxies: Vec<Proxy>,
    /// The store, which is connected to the proxies.
    pub store: Arc<dyn Backend>,
}

impl Far {
    /// Creates a client behind one proxy.
    pub fn new(proxy: Proxy, store: impl Backend) -> Self {
        Self { proxies: vec![proxy], store: Arc::new(store) }
    }

    /// Lets each proxy pass on `passing` requests that contain `needle`, and then lose the reply to the next such
    /// request.
    fn arm(&self, needle: &str, passing: usize) {
        // Any node of a cluster may get the request.
        self.proxies.iter().for_each(|proxy| proxy.arm(Cut::ReplyLost, needle, passing));
    }

    /// Returns the number of replies that were lost.
    pub fn cuts(&self) -> usize {
        self.proxies.iter().map(Proxy::cuts).sum()
    }

    /// Adds one item for each call that loses its reply.
    pub async fn fill(&self) -> Result<()> {
        let items = (0..CUTS).map(|number| Item::new(format!("item-{number}")));
        self.store.item_bank(&"cuts".parse()?)?.add(&items.collect::<Result<Vec<_>>>()?).await.map(drop)
    }

    /// Makes a call and loses its reply. Returns whether the answer to the retry says that the call was applied before.
    pub async fn call(&self, number: usize) -> Result<bool> {
        let id = format!("cut-{number:04}");
        match number % 5 {
            0 => self.take(&id).await,
            1 => self.record(&id).await,
            2 => self.consume(&id).await,
            3 => self.apply(&id).await,
            _ => self.put(&id, number).await,
        }
    }

    async fn take(&self, id: &str) -> Result<bool> {
        let (bank, claim) = (self.store.item_bank(&"cuts".parse()?)?, ClaimId::new(id)?);
        self.arm(id, 0);
        Ok(matches!(bank.take(&claim, Hold::Forever).await?, Taken::Again(_)))
    }

    async fn record(&self, id: &str) -> Result<bool> {
        let (records, value) = (self.store.dedup_repo(&"cuts".parse()?)?, Payload::try_from(id)?);
        self.arm(id, 0);
        let recorded = records.record(&DedupId::new(id)?, &value, &OpId::new("op")?, Retention::Forever).await?;
        Ok(matches!(recorded, Recorded::Again(entry) if entry.value == value))
    }

    async fn consume(&self, id: &str) -> Result<bool> {
        let (tokens, token) = (self.store.token_store(&"cuts".parse()?)?, TokenId::new(id)?);
        tokens.create_tokens(std::slice::from_ref(&token)).await?;
        self.arm(id, 0);
        Ok(tokens.consume(&token, &OpId::new("op")?).await? == Consumed::Again)
    }

    async fn apply(&self, id: &str) -> Result<bool> {
        let (counters, key) = (self.store.counter(&"cuts".parse()?, Strategy::default())?, Key::new("key")?);
        let before = counters.value(&key).await?;
        self.arm(id, 0);
        let counted = counters.apply(&key, &Change::new(OpId::new(id)?, 3)).await?;
        Ok(counted == Counted::AlreadyApplied { value: Some(before + 3) })
    }

    async fn put(&self, id: &str, number: usize) -> Result<bool> {
        let ordered = self.store.ordered_store(&"cuts".parse()?, OrderedOptions::sequence())?;
        let (value, stamp) = (Payload::try_from(id)?, Stamp::new(number as i64, WriterId::new("ada")?));
        self.arm(id, 0);
        Ok(ordered.put(&Key::new("key")?, &value, &stamp).await? == Written::Duplicate)
    }

    /// Checks after [`CUTS`] calls that none was applied twice. `other_claims` is the number of other claims in the
    /// bank.
    pub async fn audit(&self, other_claims: usize) -> Result<()> {
        let each = CUTS / 5;
        let counts = self.store.item_bank(&"cuts".parse()?)?.counts().await?;
        assert_eq!(counts.held, (each + other_claims) as u64, "{counts:?}");
        let counters = self.store.counter(&"cuts".parse()?, Strategy::default())?;
        assert_eq!(counters.value(&Key::new("key")?).await?, 3 * each as i64, "changes of a counter");
        Ok(())
    }

    /// Loses replies to concurrent callers, whose calls may share a batch. Checks that each call was applied once.
    /// Prints one line of results.
    pub async fn lose_together(&self) -> Result<()> {
        let (namespaces, items) = (Namespaces::of(&*self.store)?, ROUNDS * CALLERS * 2);
        fill(&namespaces, items).await?;
        let answered = Arc::new(AtomicU64::new(0));
        let callers = (0..CALLERS).map(|number| Caller::new(&namespaces, format!("c{number}"), &answered));
        let mut callers: Vec<_> = callers.collect();
        for round in 1..=ROUNDS {
            // In each round, seven requests contain the id. Each round cuts a different one of the seven.
            self.arm(&format!("c{}-{round}", round % CALLERS), round % 7);
            callers = at_once(callers).await?;
        }
        for proxy in &self.proxies {
            proxy.disarm();
        }
        audit(&namespaces, items, &callers).await?;
        assert!(self.cuts() >= ROUNDS / 2, "only {} cuts were made", self.cuts());
        println!(
            "cuts: {} replies to {CALLERS} callers at once lost: {} calls answered, each done once",
            self.cuts(),
            answered.load(Ordering::SeqCst)
        );
        Ok(())
    }
}

impl fmt::Debug for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Far").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Loses a request and then a reply of calls that the bank refuses. Checks that the retry gets the refusal, and that
/// the lost attempt changed nothing.
pub async fn refuse(proxy: &Proxy, store: &dyn Backend) -> Result<()> {
    let (bank, ada, bob) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?, ClaimId::new("bob")?);
    bank.add(&[Item::new("item")?]).await?;
    let _ = bank.take(&ada, Hold::Forever).await?;
    assert_eq!(bank.take(&bob, Hold::Forever).await?, Taken::Empty);
    for (number, cut) in [Cut::RequestLost, Cut::ReplyLost].into_iter().enumerate() {
        proxy.arm(cut, ada.as_str(), 0);
        assert_eq!(bank.retire(&ada).await?, Retired::Holding, "{cut:?}");
        proxy.arm(cut, bob.as_str(), 0);
        assert_eq!(bank.take(&bob, Hold::Forever).await?, Taken::Empty, "{cut:?}");
        assert_eq!(proxy.cuts(), 2 * (number + 1), "{cut:?}");
    }
    assert_eq!(bank.retire(&ada).await?, Retired::Holding);
    assert_eq!(bank.take(&bob, Hold::Forever).await?, Taken::Empty);
    Ok(())
}

async fn at_once(callers: Vec<Caller>) -> Result<Vec<Caller>> {
    let mut rounds = JoinSet::new();
    for mut caller in callers {
        rounds.spawn(async move { caller.round().await.map(|()| caller) });
    }
    rounds.join_all().await.into_iter().collect()
}
