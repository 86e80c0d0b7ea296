//! Replies that are lost after the server has done what was asked: the backend's own retry finds it done.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{
    Backend, Change, ClaimId, Consumed, Counted, Counter, DedupRepo, Hold, ItemBank, Key, OpId, OrderedOptions,
    OrderedStore, Recorded, Result, Retention, Stamp, Strategy, Taken, TokenId, TokenStore, Written,
};
use storagebox_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::scene::with_place;
use crate::support::{Place, failed};
use storagebox_testkit::workload::{Caller, Namespaces, audit, fill};

const CUTS: usize = 1_000;
/// Rounds of callers at once, each of which has one call cut, together with those that went with it.
const ROUNDS: usize = 100;
const CALLERS: usize = 8;

/// A client behind a proxy.
struct Far {
    proxy: Proxy,
    store: PostgresStore,
}

impl Far {
    async fn of(place: &Place, combining: bool) -> Result<Self> {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let store = place.builder()?.combining(combining).connect(&place.url_at(proxy.addr()))?;
        Ok(Self { proxy, store })
    }

    /// One of the calls, whose reply is lost; whether it says that it was done before.
    async fn call(&self, number: usize) -> Result<bool> {
        let id = format!("cut-{number:04}");
        let store = &self.store;
        Ok(match number % 5 {
            0 => {
                let claim = ClaimId::new(id.as_str())?;
                let bank = store.item_bank(&"cuts".parse()?)?;
                self.proxy.arm(Cut::ReplyLost, &id, 0);
                matches!(bank.take(&claim, Hold::Forever).await?, Taken::Again(_))
            }
            1 => {
                self.proxy.arm(Cut::ReplyLost, &id, 0);
                let records = store.dedup_repo(&"cuts".parse()?)?;
                let recorded = records
                    .record(&id.as_str().parse()?, &id.as_str().try_into()?, &"op".parse()?, Retention::Forever)
                    .await?;
                matches!(recorded, Recorded::Again(entry) if entry.value.as_bytes() == id.as_bytes())
            }
            2 => {
                let (tokens, token) = (store.token_store(&"cuts".parse()?)?, TokenId::new(id.as_str())?);
                tokens.create_tokens(std::slice::from_ref(&token)).await?;
                self.proxy.arm(Cut::ReplyLost, &id, 0);
                tokens.consume(&token, &OpId::new("op")?).await? == Consumed::Again
            }
            3 => {
                let counters = store.counter(&"cuts".parse()?, Strategy::default())?;
                let before = counters.value(&Key::new("key")?).await?;
                self.proxy.arm(Cut::ReplyLost, &id, 0);
                let counted = counters.apply(&"key".parse()?, &Change::new(id.as_str().parse()?, 3)).await?;
                counted == Counted::AlreadyApplied { value: Some(before + 3) }
            }
            _ => {
                let ordered = store.ordered_store(&"cuts".parse()?, OrderedOptions::sequence())?;
                self.proxy.arm(Cut::ReplyLost, &id, 0);
                ordered
                    .put(&"key".parse()?, &id.as_str().try_into()?, &Stamp::new(number as i64, "ada".parse()?))
                    .await?
                    == Written::Duplicate
            }
        })
    }
}

#[tokio::test]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn a_call_whose_reply_was_lost_is_found_done() -> Result<()> {
    with_place(async |place| {
        let far = Far::of(place, false).await?;
        fill_cuts(&far.store).await?;
        for number in 0..CUTS {
            assert!(far.call(number).await?, "call {number} was not found done");
            assert_eq!(far.proxy.cuts(), number + 1, "call {number} was not cut");
        }
        let each = (CUTS / 5) as i64;
        assert_eq!(far.store.item_bank(&"cuts".parse()?)?.counts().await?.held as i64, each);
        let counters = far.store.counter(&"cuts".parse()?, Strategy::default())?;
        assert_eq!(counters.value(&Key::new("key")?).await?, 3 * each);
        println!("cuts: {CUTS} replies lost after the call was done: each found it done, nothing was done twice");
        Ok(())
    })
    .await
}

async fn fill_cuts(store: &PostgresStore) -> Result<()> {
    let items = (0..CUTS).map(|number| storagebox_core::Item::new(format!("item-{number}")));
    store.item_bank(&"cuts".parse()?)?.add(&items.collect::<Result<Vec<_>>>()?).await.map(drop)
}

/// Calls that go together are lost together, and each finds its own effect.
#[tokio::test]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn calls_that_were_lost_together_are_done_once_each() -> Result<()> {
    with_place(async |place| {
        let far = Far::of(place, true).await?;
        let namespaces = Namespaces::of(&far.store)?;
        let items = ROUNDS * CALLERS * 2;
        fill(&namespaces, items).await?;
        let answered = Arc::new(AtomicU64::new(0));
        let mut callers: Vec<_> =
            (0..CALLERS).map(|number| Caller::new(&namespaces, format!("c{number}"), &answered)).collect();
        for round in 1..=ROUNDS {
            // Of the requests of this round that hold its id, of which there are seven, another one each time.
            let victim = format!("c{}-{round}", round % CALLERS);
            far.proxy.arm(Cut::ReplyLost, victim, round % 7);
            callers = at_once(callers).await?;
        }
        far.proxy.disarm();
        audit(&namespaces, items, &callers).await?;
        assert!(far.proxy.cuts() >= ROUNDS / 2, "only {} cuts were made", far.proxy.cuts());
        println!(
            "cuts: {} replies to {CALLERS} callers at once lost: {} calls answered, each done once",
            far.proxy.cuts(),
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
