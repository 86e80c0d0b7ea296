//! Replies that are lost after the server has done what was asked: the backend's own retry finds it done.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{
    Backend, Change, ClaimId, Consumed, Counted, Counter, DedupRepo, Hold, ItemBank, Key, OpId, OrderedOptions,
    OrderedStore, Recorded, Result, Retention, Stamp, Strategy, Taken, TokenId, TokenStore, Written,
};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use crate::scene::with_place;
use crate::support::{Place, Server, failed};
use storagebox_testkit::workload::{Caller, Namespaces, audit, fill};

const CUTS: usize = 1_000;
/// Rounds of callers at once, each of which has one call cut, with all that were on the connection.
const ROUNDS: usize = 100;
const CALLERS: usize = 8;

/// A client behind a proxy, or behind one for each node of a cluster.
struct Far {
    proxies: Vec<Proxy>,
    store: RedisStore,
}

impl Far {
    async fn of(place: &Place) -> Result<Self> {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
        Ok(Self { proxies: vec![proxy], store })
    }

    async fn of_cluster(place: &Place) -> Result<Self> {
        let (mut proxies, mut builder) = (vec![], place.builder()?);
        for node in place.server.own_cluster().expect("a cluster").nodes() {
            let proxy = Proxy::start(node.address()).await.map_err(failed)?;
            let (said, reached) = (node.address().port(), proxy.addr().port());
            builder = builder.reached_at(("127.0.0.1", said), ("127.0.0.1", reached));
            proxies.push(proxy);
        }
        Ok(Self { proxies, store: builder.connect(&place.server.url())? })
    }

    /// Whichever node is asked.
    fn arm(&self, needle: &str, passing: usize) {
        self.proxies.iter().for_each(|proxy| proxy.arm(Cut::ReplyLost, needle, passing));
    }

    fn cuts(&self) -> usize {
        self.proxies.iter().map(Proxy::cuts).sum()
    }

    /// The namespace's node learns the scripts: the answer to a script that it does not know yet is no answer to a call.
    async fn warm(&self) -> Result<()> {
        let (store, other) = (&self.store, "other");
        let _ = store.item_bank(&"cuts".parse()?)?.take(&ClaimId::new(other)?, Hold::Forever).await?;
        let _ = store
            .dedup_repo(&"cuts".parse()?)?
            .record(&other.parse()?, &other.try_into()?, &other.parse()?, Retention::Forever)
            .await?;
        let _ = store.token_store(&"cuts".parse()?)?.consume(&TokenId::new(other)?, &OpId::new(other)?).await?;
        let _ = store
            .counter(&"cuts".parse()?, Strategy::default())?
            .apply(&other.parse()?, &Change::new(other.parse()?, 1))
            .await?;
        store
            .ordered_store(&"cuts".parse()?, OrderedOptions::sequence())?
            .put(&other.parse()?, &other.try_into()?, &Stamp::new(1, other.parse()?))
            .await
            .map(drop)
    }

    /// One of the calls, whose reply is lost; whether it says that it was done before.
    async fn call(&self, number: usize) -> Result<bool> {
        let id = format!("cut-{number:04}");
        let store = &self.store;
        Ok(match number % 5 {
            0 => {
                let claim = ClaimId::new(id.as_str())?;
                let bank = store.item_bank(&"cuts".parse()?)?;
                self.arm(&id, 0);
                matches!(bank.take(&claim, Hold::Forever).await?, Taken::Again(_))
            }
            1 => {
                self.arm(&id, 0);
                let records = store.dedup_repo(&"cuts".parse()?)?;
                let recorded = records
                    .record(&id.as_str().parse()?, &id.as_str().try_into()?, &"op".parse()?, Retention::Forever)
                    .await?;
                matches!(recorded, Recorded::Again(entry) if entry.value.as_bytes() == id.as_bytes())
            }
            2 => {
                let (tokens, token) = (store.token_store(&"cuts".parse()?)?, TokenId::new(id.as_str())?);
                tokens.create_tokens(std::slice::from_ref(&token)).await?;
                self.arm(&id, 0);
                tokens.consume(&token, &OpId::new("op")?).await? == Consumed::Again
            }
            3 => {
                let counters = store.counter(&"cuts".parse()?, Strategy::default())?;
                let before = counters.value(&Key::new("key")?).await?;
                self.arm(&id, 0);
                let counted = counters.apply(&"key".parse()?, &Change::new(id.as_str().parse()?, 3)).await?;
                counted == Counted::AlreadyApplied { value: Some(before + 3) }
            }
            _ => {
                let ordered = store.ordered_store(&"cuts".parse()?, OrderedOptions::sequence())?;
                self.arm(&id, 0);
                ordered
                    .put(&"key".parse()?, &id.as_str().try_into()?, &Stamp::new(number as i64, "ada".parse()?))
                    .await?
                    == Written::Duplicate
            }
        })
    }
}

#[tokio::test]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn a_call_whose_reply_was_lost_is_found_done() -> Result<()> {
    with_place(async |place| each_is_found_done(&Far::of(place).await?, "one node").await).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn on_a_cluster_a_call_whose_reply_was_lost_is_found_done() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    each_is_found_done(&Far::of_cluster(&place).await?, "a cluster of six").await
}

async fn each_is_found_done(far: &Far, on: &str) -> Result<()> {
    fill_cuts(&far.store).await?;
    far.warm().await?;
    for number in 0..CUTS {
        let before = far.cuts();
        assert!(far.call(number).await?, "call {number} was not found done");
        // The second attempt may be cut too, where the driver asks another node first.
        assert!(far.cuts() > before, "call {number} was not cut");
    }
    let each = (CUTS / 5) as i64;
    assert_eq!(far.store.item_bank(&"cuts".parse()?)?.counts().await?.held as i64, each + 1);
    let counters = far.store.counter(&"cuts".parse()?, Strategy::default())?;
    assert_eq!(counters.value(&Key::new("key")?).await?, 3 * each);
    println!("cuts: {CUTS} replies lost on {on} after the call was done: each found it done, nothing was done twice");
    Ok(())
}

async fn fill_cuts(store: &RedisStore) -> Result<()> {
    let items = (0..CUTS).map(|number| storagebox_core::Item::new(format!("item-{number}")));
    store.item_bank(&"cuts".parse()?)?.add(&items.collect::<Result<Vec<_>>>()?).await.map(drop)
}

/// Calls on one connection are lost together, and each finds its own effect.
#[tokio::test]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn calls_that_were_lost_together_are_done_once_each() -> Result<()> {
    with_place(async |place| {
        let far = Far::of(place).await?;
        let namespaces = Namespaces::of(&far.store)?;
        let items = ROUNDS * CALLERS * 2;
        fill(&namespaces, items).await?;
        let answered = Arc::new(AtomicU64::new(0));
        let mut callers: Vec<_> =
            (0..CALLERS).map(|number| Caller::new(&namespaces, format!("c{number}"), &answered)).collect();
        for round in 1..=ROUNDS {
            // Of the requests of this round that hold its id, of which there are seven, another one each time.
            let victim = format!("c{}-{round}", round % CALLERS);
            far.arm(&victim, round % 7);
            callers = at_once(callers).await?;
        }
        for proxy in &far.proxies {
            proxy.disarm();
        }
        audit(&namespaces, items, &callers).await?;
        assert!(far.cuts() >= ROUNDS / 2, "only {} cuts were made", far.cuts());
        println!(
            "cuts: {} replies to {CALLERS} callers at once lost: {} calls answered, each done once",
            far.cuts(),
            answered.load(std::sync::atomic::Ordering::SeqCst)
        );
        Ok(())
    })
    .await
}

async fn at_once(callers: Vec<Caller>) -> Result<Vec<Caller>> {
    let mut rounds = JoinSet::new();
    for mut caller in callers {
        rounds.spawn(async move { caller.round().await.map(|()| caller) });
    }
    rounds.join_all().await.into_iter().collect()
}
