//! The cost of calls, in commits that SQLite counts: a change costs one transaction, a read none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::Connection;
use sqlx::sqlite::SqlitePoolOptions;
use storagebox_core::{
    Backend, Begun, Change, ClaimId, Commit, Counter, DedupId, DedupRepo, EntityChange, EntityLedger, EntryId, Hold,
    Item, ItemBank, Joins, Key, LeaseRepo, OpId, OrderedOptions, OrderedStore, Payload, Recorded, Replaced, Result,
    Retention, Stamp, Strategy, TokenId, TokenStore, WriterId,
};
use storagebox_sqlite::SqliteStore;
use tokio::task::JoinSet;

use crate::support::{Place, failed};

const HOUR: Duration = Duration::from_secs(3_600);

/// A store on connections that count their commits, and the number of commits of each call.
pub(crate) struct Metered {
    commits: Arc<AtomicUsize>,
    pub(crate) store: SqliteStore,
    pub(crate) noted: Vec<(&'static str, usize)>,
}

impl Metered {
    pub(crate) fn of(place: &Place) -> Result<Self> {
        let commits = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&commits);
        let pool = SqlitePoolOptions::new().max_connections(4).after_connect(move |connection, _| {
            let counter = Arc::clone(&counter);
            Box::pin(async move {
                connection.lock_handle().await?.set_commit_hook(move || {
                    counter.fetch_add(1, Ordering::SeqCst);
                    true
                });
                Ok(())
            })
        });
        let store = place.builder().from_pool(pool.connect_lazy_with(place.options()))?;
        Ok(Self { commits, store, noted: vec![] })
    }

    pub(crate) async fn note<T>(&mut self, call: &'static str, made: impl Future<Output = Result<T>>) -> Result<T> {
        let before = self.commits.load(Ordering::SeqCst);
        let answer = made.await?;
        self.noted.push((call, self.commits.load(Ordering::SeqCst) - before));
        Ok(answer)
    }

    async fn bank(&mut self) -> Result<()> {
        let bank = self.store.item_bank(&"namespace".parse()?)?;
        let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
        self.note("add 1,000", bank.add(&items(1_000)?)).await?;
        let _ = self.note("take, new", bank.take(&ada, Hold::For(HOUR))).await?;
        let _ = self.note("take, again", bank.take(&ada, Hold::For(HOUR))).await?;
        let _ = self.note("extend", bank.extend(&ada, Hold::Forever)).await?;
        let _ = self.note("confirm", bank.confirm(&ada)).await?;
        self.note("get", bank.get(&ada)).await?;
        let _ = self.note("release", bank.release(&bob)).await?;
        self.note("counts", bank.counts()).await?;
        self.note("holder", bank.holder(&items(3)?[0])).await?;
        self.note("list", bank.list(None, 10)).await?;
        self.note("withdraw", bank.withdraw(&items(3)?)).await?;
        self.note("restore", bank.restore(&items(3)?)).await?;
        self.note("retire", bank.retire(&bob)).await.map(drop)
    }

    async fn records(&mut self) -> Result<()> {
        let records = self.store.dedup_repo(&"namespace".parse()?)?;
        let (id, op, value) = (DedupId::new("id")?, OpId::new("op")?, Payload::try_from("value")?);
        let recorded = self.note("record", records.record(&id, &value, &op, Retention::Forever)).await?;
        let Recorded::New(version) = recorded else { panic!("{recorded:?}") };
        self.note("record, get", records.get(&id)).await?;
        let replaced = self.note("replace", records.replace(&id, version, &value, &op)).await?;
        let Replaced::Replaced(version) = replaced else { panic!("{replaced:?}") };
        self.note("record, list", records.list(None, 10)).await?;
        self.note("forget", records.forget(&id, version)).await.map(drop)
    }

    async fn leases(&mut self) -> Result<()> {
        let (leases, op, result) =
            (self.store.lease_repo(&"namespace".parse()?)?, OpId::new("op")?, Payload::try_from("value")?);
        for end in ["complete", "abort"] {
            let begun = self.note("begin", leases.begin(&DedupId::new(end)?, &op, HOUR, None)).await?;
            let Begun::Started(lease) = begun else { panic!("{begun:?}") };
            let _ = self.note("lease, extend", leases.extend(&lease, 2 * HOUR)).await?;
            match end {
                "abort" => self.note("abort", leases.abort(&lease)).await.map(drop)?,
                _ => {
                    let complete = leases.complete(&lease, &result, Retention::Forever);
                    self.note("complete", complete).await.map(drop)?;
                }
            }
        }
        Ok(())
    }

    async fn tokens(&mut self) -> Result<()> {
        let (tokens, op) = (self.store.token_store(&"namespace".parse()?)?, OpId::new("op")?);
        let both = [TokenId::new("one")?, TokenId::new("other")?];
        self.note("create", tokens.create_tokens(&both)).await?;
        self.note("exists", tokens.exists(&both[0])).await?;
        let _ = self.note("consume", tokens.consume(&both[0], &op)).await?;
        self.note("discard", tokens.discard(&both)).await.map(drop)
    }

    async fn entities(&mut self) -> Result<()> {
        let tokens = Some("namespace".parse()?);
        let joins = Joins { incoming: tokens.clone(), outgoing: tokens };
        let entities = self.store.entity_ledger(&"namespace".parse()?, &joins)?;
        let id = EntryId { key: "entity".parse()?, message: "message".parse()?, commit: "op".parse()? };
        let commit = Commit {
            key: id.key.clone(),
            message: id.message.clone(),
            opened: None,
            change: EntityChange::Put("state".try_into()?),
            attempt: id.commit.clone(),
            entry: Some("content".try_into()?),
            consume: None,
            create: vec!["third".parse()?],
        };
        let _ = self.note("commit", entities.commit(&commit)).await?;
        self.note("open", entities.open(&id.key, &id.message, Some(&"third".parse()?))).await?;
        let _ = self.note("register", entities.register(&id, &id.commit)).await?;
        let _ = self.note("choose", entities.choose(&id, &id.commit)).await?;
        self.note("pending", entities.pending(None, 10)).await?;
        self.note("remove", entities.remove(&id)).await.map(drop)
    }

    async fn counters(&mut self) -> Result<()> {
        let (counters, key) = (self.store.counter(&"namespace".parse()?, Strategy::default())?, Key::new("key")?);
        let _ = self.note("apply", counters.apply(&key, &Change::new(OpId::new("op")?, 1))).await?;
        self.note("value", counters.value(&key)).await?;
        self.note("cancel", counters.cancel(&key, &OpId::new("another")?)).await.map(drop)
    }

    async fn ordered(&mut self) -> Result<()> {
        let ordered = self.store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?;
        let (key, value) = (Key::new("key")?, Payload::try_from("value")?);
        let stamp = |at| Ok::<_, storagebox_core::Error>(Stamp::new(at, WriterId::new("ada")?));
        let _ = self.note("put", ordered.put(&key, &value, &stamp(1)?)).await?;
        self.note("ordered, get", ordered.get(&key)).await?;
        let _ = self.note("delete", ordered.delete(&key, &stamp(2)?)).await?;
        self.note("ordered, list", ordered.list(None, None, 10)).await?;
        let _ = self.note("reset", ordered.reset(&key, &stamp(2)?)).await?;
        self.note("purge", ordered.purge(Duration::ZERO, 10)).await.map(drop)
    }
}

fn items(count: usize) -> Result<Vec<Item>> {
    (0..count).map(|number| Item::new(format!("item-{number}"))).collect()
}

/// The first call on a namespace also creates it. A take costs one transaction even if it changes nothing.
#[tokio::test]
async fn each_change_is_one_transaction_and_each_look_none() -> Result<()> {
    let place = Place::ready().await?;
    let mut metered = Metered::of(&place)?;
    metered.bank().await?;
    metered.records().await?;
    metered.leases().await?;
    metered.tokens().await?;
    metered.entities().await?;
    metered.counters().await?;
    metered.ordered().await?;
    let free = [
        "get",
        "counts",
        "holder",
        "list",
        "record, get",
        "record, list",
        "exists",
        "open",
        "pending",
        "value",
        "ordered, get",
        "ordered, list",
    ];
    let expected: Vec<_> = metered.noted.iter().map(|(call, _)| (*call, usize::from(!free.contains(call)))).collect();
    assert_eq!(metered.noted, expected);
    assert_eq!(metered.noted.len(), 43, "calls");
    Ok(())
}

#[tokio::test]
async fn texts_go_five_thousand_to_a_transaction() -> Result<()> {
    let place = Place::ready().await?;
    let mut metered = Metered::of(&place)?;
    let bank = metered.store.item_bank(&"namespace".parse()?)?;
    metered.note("add", bank.add(&items(12_000)?)).await?;
    assert_eq!(metered.noted, [("add", 3)]);
    Ok(())
}

/// The calls arrive while another process is writing, so they share the next transaction.
#[tokio::test]
async fn calls_that_come_together_share_a_transaction() -> Result<()> {
    let place = Place::ready().await?;
    let metered = Metered::of(&place)?;
    let records = metered.store.dedup_repo(&"namespace".parse()?)?;
    let _ = records.record(&"first".parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await?;
    let mut other = place.raw().await?;
    let writing = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let before = metered.commits.load(Ordering::SeqCst);
    let mut calls = JoinSet::new();
    for number in 0..64 {
        let (records, id) = (Arc::clone(&records), format!("{number}"));
        calls.spawn(async move {
            records.record(&id.as_str().parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await
        });
    }
    // There is one thread, so each call runs until it waits.
    tokio::task::yield_now().await;
    writing.rollback().await.map_err(failed)?;
    calls.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    let commits = metered.commits.load(Ordering::SeqCst) - before;
    assert!(commits <= 3, "{commits} transactions");
    assert_eq!(records.list(None, 100).await?.entries.len(), 65);
    Ok(())
}
