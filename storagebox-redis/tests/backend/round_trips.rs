//! What a call costs: one round trip, counted by a proxy, once its connection and its namespace are warm.

use std::sync::Arc;
use std::time::Duration;

use redis::cmd;
use storagebox_conformance::Proxy;
use storagebox_core::{
    Backend, BankAdmin, Begun, Change, ClaimId, Counter, DedupId, DedupRepo, Hold, Item, Key, LeaseRepo, OpId,
    OrderedOptions, OrderedStore, Payload, Recorded, Replaced, Result, Retention, Stamp, Strategy, TokenId, TokenStore,
    WriterId,
};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use crate::scene::{with_place, with_server};
use crate::support::{Place, failed};

const HOUR: Duration = Duration::from_secs(3_600);

/// A store behind a proxy, and what its calls took.
struct Metered {
    proxy: Proxy,
    store: RedisStore,
    noted: Vec<(&'static str, usize)>,
}

impl Metered {
    async fn of(place: &Place) -> Result<Self> {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
        Ok(Self { proxy, store, noted: vec![] })
    }

    async fn note<T>(&mut self, call: &'static str, made: impl Future<Output = Result<T>>) -> Result<T> {
        let before = self.proxy.round_trips();
        let answer = made.await?;
        self.noted.push((call, self.proxy.round_trips() - before));
        Ok(answer)
    }

    /// Every call of every part, with ids of this name.
    async fn every_call(&mut self, name: &str) -> Result<()> {
        self.bank(name).await?;
        self.bank_for_its_keeper(name).await?;
        self.records(name).await?;
        self.leases(name).await?;
        self.tokens(name).await?;
        self.counters(name).await?;
        self.ordered(name).await
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
        let mut metered = Metered::of(place).await?;
        metered.every_call("first").await?;
        metered.noted.clear();
        metered.every_call("second").await?;
        metered.assert_one_each();
        Ok(())
    })
    .await
}

/// What the README says of the first call. The server is this test's own: no other makes it forget its scripts.
#[tokio::test]
async fn a_namespace_takes_three_round_trips_more_to_make_and_two_to_open() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        place.store()?.item_bank(&"another".parse()?)?.counts().await?;
        for expected in [4, 3] {
            let mut metered = Metered::of(place).await?;
            metered.store.ping().await?;
            let bank = metered.store.item_bank(&"namespace".parse()?)?;
            metered.note("counts", bank.counts()).await?;
            assert_eq!(metered.noted, [("counts", expected)]);
        }
        Ok(())
    })
    .await
}

/// It also asks what the server says of itself.
#[tokio::test]
async fn a_ping_is_two_round_trips() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place).await?;
        metered.store.ping().await?;
        metered.note("ping", metered.store.clone().ping()).await?;
        assert_eq!(metered.noted, [("ping", 2)]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn items_go_a_thousand_to_a_round_trip() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place).await?;
        let bank = metered.store.item_bank(&"namespace".parse()?)?;
        bank.add(&items("warm", 1)?).await?;
        metered.note("add", bank.add(&items("many", 5_000)?)).await?;
        assert_eq!(metered.noted, [("add", 5)]);
        Ok(())
    })
    .await
}

/// Nobody waits for an answer before the next one sends: the connection is one, and the server answers in order.
#[tokio::test]
async fn calls_of_many_callers_go_over_one_connection() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let records = store.dedup_repo(&"namespace".parse()?)?;
        remembered(&records, 1).await?;
        remembered(&records, 64).await?;
        assert_eq!(connections(place).await?, 1);
        assert_eq!(records.list(None, 100).await?.entries.len(), 64);
        assert_eq!(connections(place).await?, 2, "what is large goes over a connection of its own");
        Ok(())
    })
    .await
}

async fn remembered(records: &Arc<dyn DedupRepo>, count: usize) -> Result<()> {
    let mut callers = JoinSet::new();
    for number in 0..count {
        let (records, id) = (Arc::clone(records), format!("{number}"));
        callers.spawn(async move {
            records.record(&id.as_str().parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await
        });
    }
    callers.join_all().await.into_iter().collect::<Result<Vec<_>>>().map(drop)
}

/// Of the user of this test, by the server's own list.
async fn connections(place: &Place) -> Result<usize> {
    let clients: String = place.server.ask(cmd("CLIENT").arg("LIST")).await?;
    let ours = format!("user={}", place.server.user());
    // That which set the place up is open for as long as its store.
    Ok(clients.lines().filter(|client| client.contains(&ours)).count())
}
