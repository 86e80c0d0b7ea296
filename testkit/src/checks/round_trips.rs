//! The cost of a store's calls: their round trips, which a proxy counts.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use storagebox_conformance::Proxy;
use storagebox_core::{
    Backend, Begun, Change, ClaimId, Counter, DedupId, DedupRepo, Hold, Item, ItemBank, Key, LeaseRepo, OpId,
    OrderedOptions, OrderedStore, Payload, Recorded, Replaced, Result, Retention, Stamp, Strategy, TokenId, TokenStore,
    WriterId,
};
use tokio::task::JoinSet;

use super::HOUR;

/// The least number of calls that [`Metered::every_call`] notes.
const CALLS: usize = 36;

/// A store behind a proxy, and the round trips of its calls.
pub struct Metered {
    /// The store, which is connected to the proxy.
    pub store: Arc<dyn Backend>,
    /// The name of each call, and the number of its round trips.
    pub noted: Vec<(&'static str, usize)>,
    proxy: Proxy,
}

impl Metered {
    /// Creates a meter with no noted calls.
    pub fn new(proxy: Proxy, store: impl Backend) -> Self {
        Self { store: Arc::new(store), noted: vec![], proxy }
    }

    /// Makes a call and notes its round trips.
    ///
    /// # Errors
    ///
    /// Returns the errors of the call.
    pub async fn note<T>(&mut self, call: &'static str, made: impl Future<Output = Result<T>>) -> Result<T> {
        let before = self.proxy.round_trips();
        let answer = made.await?;
        self.noted.push((call, self.proxy.round_trips() - before));
        Ok(answer)
    }

    /// Makes every call of every part, with ids of this name.
    ///
    /// # Errors
    ///
    /// Returns the errors of the store.
    pub async fn every_call(&mut self, name: &str) -> Result<()> {
        self.bank(name).await?;
        self.bank_for_its_keeper(name).await?;
        self.records(name).await?;
        self.leases(name).await?;
        self.tokens(name).await?;
        self.counters(name).await?;
        self.ordered(name).await
    }

    /// Makes the calls of the store itself.
    ///
    /// # Errors
    ///
    /// Returns the errors of the store.
    pub async fn ping_and_setup(&mut self) -> Result<()> {
        let store = Arc::clone(&self.store);
        self.note("ping", store.ping()).await?;
        self.note("setup", store.setup()).await
    }

    /// Returns the number of round trips to add this many items to a bank that has one.
    ///
    /// # Errors
    ///
    /// Returns the errors of the store.
    pub async fn trips_to_add(&self, count: usize) -> Result<usize> {
        let bank = self.store.item_bank(&"namespace".parse()?)?;
        bank.add(&items("warm", 1)?).await?;
        let before = self.proxy.round_trips();
        bank.add(&items("many", count)?).await?;
        Ok(self.proxy.round_trips() - before)
    }

    async fn bank(&mut self, name: &str) -> Result<()> {
        let bank = self.store.item_bank(&"namespace".parse()?)?;
        let (ada, bob) = (ClaimId::new(format!("{name}-ada"))?, ClaimId::new(format!("{name}-bob"))?);
        self.note("add 1,000", bank.add(&items(name, 1_000)?)).await?;
        let _ = self.note("take, new", bank.take(&ada, Hold::For(HOUR))).await?;
        let _ = self.note("take, again", bank.take(&ada, Hold::For(HOUR))).await?;
        let _ = self.note("extend", bank.extend(&ada, Hold::For(HOUR))).await?;
        let _ = self.note("confirm", bank.confirm(&ada)).await?;
        self.note("get", bank.get(&ada)).await?;
        let _ = self.note("release", bank.release(&bob)).await?;
        self.note("counts", bank.counts()).await.map(drop)
    }

    async fn bank_for_its_keeper(&mut self, name: &str) -> Result<()> {
        let (bank, items) = (self.store.item_bank(&"namespace".parse()?)?, items(name, 3)?);
        self.note("holder", bank.holder(&items[0])).await?;
        self.note("list", bank.list(None, 10)).await?;
        self.note("withdraw", bank.withdraw(&items)).await?;
        self.note("restore", bank.restore(&items)).await?;
        self.note("retire", bank.retire(&ClaimId::new(format!("{name}-bob"))?)).await.map(drop)
    }

    async fn records(&mut self, name: &str) -> Result<()> {
        let records = self.store.dedup_repo(&"namespace".parse()?)?;
        let (id, op, value) = (DedupId::new(name)?, OpId::new(name)?, Payload::try_from(name)?);
        let recorded = self.note("record", records.record(&id, &value, &op, Retention::Forever)).await?;
        let Recorded::New(version) = recorded else { panic!("{recorded:?}") };
        self.note("record, get", records.get(&id)).await?;
        let replaced = self.note("replace", records.replace(&id, version, &value, &op)).await?;
        let Replaced::Replaced(version) = replaced else { panic!("{replaced:?}") };
        self.note("record, list", records.list(None, 10)).await?;
        self.note("forget", records.forget(&id, version)).await.map(drop)
    }

    async fn leases(&mut self, name: &str) -> Result<()> {
        let (leases, op) = (self.store.lease_repo(&"namespace".parse()?)?, OpId::new(name)?);
        let result = Payload::try_from(name)?;
        for end in ["complete", "abort"] {
            let id = DedupId::new(format!("{name}-{end}"))?;
            let begun = self.note("begin", leases.begin(&id, &op, HOUR, None)).await?;
            let Begun::Started(lease) = begun else { panic!("{begun:?}") };
            let _ = self.note("lease, extend", leases.extend(&lease, HOUR)).await?;
            match end {
                "complete" => drop(self.note(end, leases.complete(&lease, &result, Retention::Forever)).await?),
                _ => drop(self.note(end, leases.abort(&lease)).await?),
            }
        }
        Ok(())
    }

    async fn tokens(&mut self, name: &str) -> Result<()> {
        let tokens = self.store.token_store(&"namespace".parse()?)?;
        let (token, op) = (TokenId::new(name)?, OpId::new(name)?);
        self.note("create", tokens.create_tokens(std::slice::from_ref(&token))).await?;
        self.note("exists", tokens.exists(&token)).await?;
        let _ = self.note("consume", tokens.consume(&token, &op)).await?;
        self.note("discard", tokens.discard(&[token])).await.map(drop)
    }

    async fn counters(&mut self, name: &str) -> Result<()> {
        let (counters, key) = (self.store.counter(&"namespace".parse()?, Strategy::default())?, Key::new(name)?);
        let _ = self.note("apply", counters.apply(&key, &Change::new(OpId::new(name)?, 1))).await?;
        self.note("value", counters.value(&key)).await?;
        self.note("cancel", counters.cancel(&key, &OpId::new(name)?)).await.map(drop)
    }

    async fn ordered(&mut self, name: &str) -> Result<()> {
        let ordered = self.store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?;
        let (key, value, ada) = (Key::new(name)?, Payload::try_from(name)?, WriterId::new("ada")?);
        let _ = self.note("put", ordered.put(&key, &value, &Stamp::new(1, ada.clone()))).await?;
        self.note("ordered, get", ordered.get(&key)).await?;
        let deleted = Stamp::new(2, ada);
        let _ = self.note("delete", ordered.delete(&key, &deleted)).await?;
        let _ = self.note("reset", ordered.reset(&key, &deleted)).await?;
        self.note("ordered, list", ordered.list(None, None, 10)).await?;
        self.note("purge", ordered.purge(HOUR, 10)).await.map(drop)
    }

    /// Checks that each noted call took one round trip, and that all calls of [`Self::every_call`] were noted.
    ///
    /// # Panics
    ///
    /// Panics if a call took another number of round trips.
    #[track_caller]
    pub fn assert_one_each(&self) {
        assert!(self.noted.len() >= CALLS, "only {} calls were counted", self.noted.len());
        let others: Vec<_> = self.noted.iter().filter(|(_, trips)| *trips != 1).collect();
        assert!(others.is_empty(), "{}: not one round trip: {others:?}", self.store.backend());
    }
}

impl fmt::Debug for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered").field("store", &self.store).field("noted", &self.noted).finish_non_exhaustive()
    }
}

fn items(name: &str, count: usize) -> Result<Vec<Item>> {
    (0..count).map(|number| Item::new(format!("{name}-{number}"))).collect()
}

/// Makes a record of each of these numbers, all at once.
///
/// # Errors
///
/// Returns the errors of the store.
///
/// # Panics
///
/// Panics if a record existed before.
pub async fn remember_at_once(records: &Arc<dyn DedupRepo>, numbers: Range<usize>) -> Result<()> {
    let mut callers = JoinSet::new();
    for number in numbers {
        let (records, id) = (Arc::clone(records), number.to_string());
        callers.spawn(async move {
            let (key, value, op) = (DedupId::new(&*id)?, Payload::try_from(&*id)?, OpId::new("op")?);
            let recorded = records.record(&key, &value, &op, Retention::Forever).await?;
            assert!(matches!(recorded, Recorded::New(_)), "{id}: {recorded:?}");
            Ok(())
        });
    }
    callers.join_all().await.into_iter().collect()
}
