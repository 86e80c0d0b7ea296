//! What a call costs: one round trip, counted by a proxy, once its connection and its namespace are warm.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::Proxy;
use storagebox_core::{
    Backend, BankAdmin, Begun, Change, ClaimId, Counter, DedupId, DedupRepo, Hold, Item, Key, LeaseRepo, OpId,
    OrderedOptions, OrderedStore, Payload, Recorded, Replaced, Result, Retention, Stamp, Strategy, TokenId, TokenStore,
    WriterId,
};
use storagebox_postgres::{PostgresStore, Statements};
use tokio::task::JoinSet;

use crate::scene::with_place;
use crate::support::{Place, failed};

const HOUR: Duration = Duration::from_secs(3_600);

/// A store behind a proxy, on one connection, and what its calls took.
pub(crate) struct Metered {
    proxy: Proxy,
    store: PostgresStore,
    noted: Vec<(&'static str, usize)>,
}

impl Metered {
    /// With these settings at the end of its URL.
    pub(crate) async fn of(place: &Place, statements: Statements, settings: &str) -> Result<Self> {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let builder = place.builder()?.statements(statements).max_connections(1);
        let store = builder.connect(&format!("{}{settings}", place.url_at(proxy.addr())))?;
        Ok(Self { proxy, store, noted: vec![] })
    }

    async fn note<T>(&mut self, call: &'static str, made: impl Future<Output = Result<T>>) -> Result<T> {
        let before = self.proxy.round_trips();
        let answer = made.await?;
        self.noted.push((call, self.proxy.round_trips() - before));
        Ok(answer)
    }

    /// Every call of every part, with ids of this name.
    pub(crate) async fn every_call(&mut self, name: &str) -> Result<()> {
        self.bank(name).await?;
        self.bank_for_its_keeper(name).await?;
        self.records(name).await?;
        self.leases(name).await?;
        self.tokens(name).await?;
        self.counters(name).await?;
        self.ordered(name).await?;
        self.note("ping", self.store.clone().ping()).await?;
        self.note("setup", self.store.clone().setup()).await
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
        let (leases, op, result) =
            (self.store.lease_repo(&"namespace".parse()?)?, OpId::new(name)?, Payload::try_from(name)?);
        for end in ["complete", "abort"] {
            let id = DedupId::new(format!("{name}-{end}"))?;
            let begun = self.note("begin", leases.begin(&id, &op, HOUR, None)).await?;
            let Begun::Started(lease) = begun else { panic!("{begun:?}") };
            let _ = self.note("lease, extend", leases.extend(&lease, HOUR)).await?;
            match end {
                "complete" => {
                    self.note("complete", leases.complete(&lease, &result, Retention::Forever)).await.map(drop)?
                }
                _ => self.note("abort", leases.abort(&lease)).await.map(drop)?,
            }
        }
        Ok(())
    }

    async fn tokens(&mut self, name: &str) -> Result<()> {
        let (tokens, token, op) =
            (self.store.token_store(&"namespace".parse()?)?, TokenId::new(name)?, OpId::new(name)?);
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
        let (key, value) = (Key::new(name)?, Payload::try_from(name)?);
        let stamp = |at| Ok::<_, storagebox_core::Error>(Stamp::new(at, WriterId::new("ada")?));
        let _ = self.note("put", ordered.put(&key, &value, &stamp(1)?)).await?;
        self.note("ordered, get", ordered.get(&key)).await?;
        let _ = self.note("delete", ordered.delete(&key, &stamp(2)?)).await?;
        self.note("ordered, list", ordered.list(None, None, 10)).await?;
        self.note("purge", ordered.purge(HOUR, 10)).await.map(drop)
    }

    /// Registers the namespaces, and nothing else.
    async fn open_namespaces(&self) -> Result<()> {
        self.store.item_bank(&"namespace".parse()?)?.counts().await?;
        self.store.dedup_repo(&"namespace".parse()?)?.get(&DedupId::new("nobody")?).await?;
        let nobody = OpId::new("nobody")?;
        let _ =
            self.store.lease_repo(&"namespace".parse()?)?.begin(&DedupId::new("nobody")?, &nobody, HOUR, None).await?;
        self.store.token_store(&"namespace".parse()?)?.exists(&TokenId::new("nobody")?).await?;
        self.store.counter(&"namespace".parse()?, Strategy::default())?.value(&Key::new("nobody")?).await?;
        let ordered = self.store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?;
        ordered.get(&Key::new("nobody")?).await.map(drop)
    }

    fn assert_one_each(&self) {
        assert!(self.noted.len() >= 35, "only {} calls were counted", self.noted.len());
        let others: Vec<_> = self.noted.iter().filter(|(_, trips)| *trips != 1).collect();
        assert!(others.is_empty(), "not one round trip: {others:?}");
    }
}

fn items(name: &str, count: usize) -> Result<Vec<Item>> {
    (0..count).map(|number| Item::new(format!("{name}-{number}"))).collect()
}

#[tokio::test]
async fn each_call_is_one_round_trip_on_a_warm_connection() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, Statements::Prepared, "").await?;
        metered.every_call("first").await?;
        metered.noted.clear();
        metered.every_call("second").await?;
        metered.assert_one_each();
        Ok(())
    })
    .await
}

/// There is nothing to prepare, so the first call of its kind costs no more than the next.
#[tokio::test]
async fn with_simple_statements_the_first_call_is_one_round_trip_too() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, Statements::Simple, "").await?;
        metered.open_namespaces().await?;
        metered.every_call("first").await?;
        metered.assert_one_each();
        Ok(())
    })
    .await
}

#[tokio::test]
async fn items_go_five_thousand_to_a_round_trip() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, Statements::Prepared, "").await?;
        let bank = metered.store.item_bank(&"namespace".parse()?)?;
        bank.add(&items("warm", 1)?).await?;
        metered.note("add", bank.add(&items("many", 20_000)?)).await?;
        assert_eq!(metered.noted, [("add", 4)]);
        Ok(())
    })
    .await
}

/// All of them are waiting before the first is answered: one goes alone, the others together.
#[tokio::test]
async fn calls_that_come_while_one_is_under_way_are_one_round_trip_together() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, Statements::Simple, "").await?;
        metered.open_namespaces().await?;
        let records = metered.store.dedup_repo(&"namespace".parse()?)?;
        metered.note("records", remembered(&records, 32)).await?;
        assert_eq!(metered.noted, [("records", 2)]);
        assert_eq!(records.list(None, 100).await?.entries.len(), 32);
        Ok(())
    })
    .await
}

async fn remembered(records: &Arc<dyn DedupRepo>, count: usize) -> Result<()> {
    let mut callers = JoinSet::new();
    for number in 0..count {
        let (records, id) = (Arc::clone(records), format!("{number}"));
        callers.spawn(async move {
            let recorded = records
                .record(&id.as_str().parse()?, &id.as_str().try_into()?, &"op".parse()?, Retention::Forever)
                .await?;
            assert!(matches!(recorded, Recorded::New(_)), "{id}: {recorded:?}");
            Ok(())
        });
    }
    callers.join_all().await.into_iter().collect()
}
