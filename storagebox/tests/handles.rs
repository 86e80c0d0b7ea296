//! One program for each handle. The programs import no traits, convert no values and retry no calls.
#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::future::poll_fn;
use std::ops::Bound;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use storagebox::bank::{Extended, HoldState, ItemState, Retired};
use storagebox::counters::{Cancelled, LedgerEntry};
use storagebox::dedup::{Begun, Completed, Forgotten, LeaseExtended, Replaced};
use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::ordered::{OrderedOptions, Reset};
use storagebox::parts::Promises;
use storagebox::parts::{Backend, DedupRepo};
use storagebox::values::Namespace;
use storagebox::{
    Confirmed, Consumed, Counted, Error, ErrorKind, Maintained, MemoryStore, Ran, Recorded, Released, Result,
    Retention, RunError, Store, Strategy, Taken, Written, async_trait,
};

const HOUR: Duration = Duration::from_secs(3_600);

async fn store() -> Result<Store> {
    let store = Store::open("memory:").await?;
    store.setup().await?;
    Ok(store)
}

#[tokio::test]
async fn a_store_is_set_up_opened_and_closed() -> Result<()> {
    let store = store().await?;
    store.ping().await?;
    assert_eq!((store.backend(), store.promises().backend), ("memory", "memory"));
    assert!(!store.maintain(100).await?.more);
    store.clone().bank("vouchers")?.add(["SAVE-10"]).await?;
    assert_eq!(store.bank(String::from("vouchers"))?.counts().await?.total(), 1);
    assert!(store.bank("").is_err());
    store.close().await
}

#[tokio::test]
async fn a_bank_assigns_confirms_withdraws_and_restores() -> Result<()> {
    let vouchers = store().await?.bank("vouchers")?;
    let codes: Vec<String> = (1..=4).map(|number| format!("SAVE-{number}")).collect();
    assert_eq!(vouchers.add(&codes).await?.added, 4);
    let email = String::from("ada@example.com");
    let Taken::New(held) = vouchers.assign(&email).await? else { panic!("there are codes") };
    assert_eq!(vouchers.holder(&held.item).await?, ItemState::Held("ada@example.com".try_into()?));
    assert!(matches!(vouchers.extend(&email).for_at_most(HOUR).await?, Extended::Extended(_)));
    assert_eq!(vouchers.confirm(email.clone()).await?, Confirmed::Confirmed(held.item));
    assert_eq!(vouchers.retire(email).await?, Retired::Retired);
    assert!(matches!(vouchers.take("bob").for_at_most(HOUR).await?, Taken::New(_)));
    let Extended::Extended(held) = vouchers.extend("bob").forever().await? else { panic!("bob holds an item") };
    assert_eq!(held.hold, HoldState::Forever);
    assert_eq!(vouchers.release("bob").await?, Released::Released);
    let free = vouchers.list().all().await?;
    let free: Vec<_> = free.into_iter().filter(|listed| listed.state == ItemState::Free).collect();
    let withdrawn = vouchers.withdraw(free.iter().map(|listed| &listed.item)).await?;
    assert_eq!((free.len(), withdrawn.withdrawn), (3, 3));
    assert_eq!(vouchers.assign("carol").await?, Taken::Empty);
    assert_eq!(vouchers.restore(codes).await?.restored, 3);
    assert_eq!((vouchers.counts().await?.free, vouchers.counts().await?.spent), (3, 1));
    Ok(())
}

#[tokio::test]
async fn records_are_written_replaced_listed_and_forgotten() -> Result<()> {
    let orders = store().await?.dedup("orders")?;
    let id = String::from("order-7");
    let Recorded::New(version) = orders.record(&id, "paid").by("worker-1").await? else {
        panic!("nobody else is here")
    };
    let again = orders.record(&id, "paid").by("worker-1").await?;
    assert!(matches!(again, Recorded::Again(_)));
    let other = orders.record(&id, b"refused").keep(Retention::Forever).by("worker-2").await?;
    assert!(matches!(other, Recorded::Existing(entry) if entry.value.as_bytes() == b"paid"));
    let Replaced::Replaced(newer) = orders.replace(&id, version, vec![1, 2]).by("worker-1/sent").await? else {
        panic!("nobody else is here")
    };
    assert_eq!(orders.get(&id).await?.map(|entry| entry.version), Some(newer));
    assert_eq!(orders.list().all().await?.len(), 1);
    assert!(matches!(orders.forget(&id, version).await?, Forgotten::Stale(_)));
    assert_eq!(orders.forget(&id, newer).await?, Forgotten::Forgotten);
    assert_eq!(orders.get(id).await?, None);
    Ok(())
}

#[tokio::test]
async fn a_run_returns_done_replayed_or_mismatch() -> Result<(), Box<dyn std::error::Error>> {
    let payments = store().await?.dedup("payments")?;
    let invoice = String::from("invoice-7");
    let declined = payments.run(&invoice, async |_fence| Err::<&str, _>("declined")).await;
    assert!(matches!(declined, Err(RunError::Work("declined"))));
    let charge = async |_fence| Ok::<_, Error>("charged");
    assert!(matches!(payments.run(&invoice, charge).await?, Ran::Done(_)));
    assert!(matches!(payments.run(&invoice, charge).await?, Ran::Replayed(result) if result.as_bytes() == b"charged"));
    let ran = payments.run("invoice-8", charge).lease(HOUR).wait(HOUR).fingerprint("17 EUR").await?;
    assert!(matches!(ran, Ran::Done(_)));
    let ran = payments.run("invoice-8", charge).fingerprint("18 EUR").await?;
    assert!(matches!(ran, Ran::Mismatch));
    let ran = payments.run("invoice-9", async |_fence| Ok::<_, Error>("sent")).to_end().await?;
    assert!(matches!(ran, Ran::Done(_)));
    assert!(matches!(payments.run("", charge).await, Err(RunError::Store(_))));
    Ok(())
}

#[tokio::test]
async fn leases_are_begun_extended_completed_and_aborted() -> Result<()> {
    let store = store().await?;
    let payments = store.dedup("payments")?;
    let Begun::Started(lease) = payments.begin("invoice-7").lease(HOUR).fingerprint("17 EUR").by("worker-1").await?
    else {
        panic!("nobody else is here")
    };
    assert_eq!(payments.begin("invoice-7").fingerprint("18 EUR").by("worker-2").await?, Begun::Mismatch);
    assert_eq!(payments.extend(&lease, 2 * HOUR).await?, LeaseExtended::Extended);
    assert!(matches!(payments.complete(&lease, "charged", Retention::DEFAULT).await?, Completed::Completed(_)));
    assert!(matches!(payments.begin("invoice-7").by("worker-2").await?, Begun::Done(_)));
    assert!(payments.get("invoice-7").await?.is_some());
    let Begun::Started(lease) = payments.begin("invoice-8").by("worker-1").await? else {
        panic!("nobody else is here")
    };
    let _aborted = payments.abort(&lease).await?;
    assert!(matches!(payments.begin("invoice-8").by("worker-2").await?, Begun::Started(_)));
    Ok(())
}

#[tokio::test]
async fn tokens_are_created_consumed_and_discarded() -> Result<()> {
    let inbox = store().await?.tokens("inbox")?;
    let messages = ["message-1", "message-2", "message-3"];
    assert_eq!(inbox.create(messages).await?.created, 3);
    assert_eq!(inbox.create(&messages).await?.already_live, 3);
    assert!(inbox.exists(String::from("message-1")).await?);
    assert_eq!(inbox.consume("message-1").by("worker-1").await?, Consumed::Now);
    assert_eq!(inbox.consume("message-1").by("worker-1").await?, Consumed::Again);
    assert_eq!(inbox.consume("message-1").by("worker-2").await?, Consumed::AlreadyGone);
    assert_eq!(inbox.discard(["message-2"]).await?.discarded, 1);
    assert_eq!(inbox.consume("message-2").by("worker-1").await?, Consumed::AlreadyGone);
    Ok(())
}

#[tokio::test]
async fn a_counter_applies_refuses_and_fences_changes() -> Result<()> {
    let store = store().await?;
    let stock = store.counters("stock")?;
    assert!(stock.promise().recognises_repeats());
    assert_eq!(stock.add("red-shoes", 2).by("delivery-1").await?, Counted::Applied { value: Some(2) });
    let sell = |order: &'static str| stock.add("red-shoes", -2).within(0..).by(order);
    assert_eq!(sell("order-1").await?, Counted::Applied { value: Some(0) });
    assert_eq!(sell("order-1").await?, Counted::AlreadyApplied { value: Some(0) });
    assert_eq!(sell("order-2").await?, Counted::OutOfBounds);
    assert_eq!(stock.cancel("red-shoes").by("order-3").await?, Cancelled::Cancelled);
    assert_eq!(sell("order-3").await?, Counted::Fenced);
    assert_eq!(stock.value(String::from("red-shoes")).await?, 0);
    assert!(sell("").await.is_err());
    assert!(stock.add("red-shoes", 1).because("found again").by("order-4").await.is_err());
    assert!(!store.counters_with("hits", Strategy::Atomic)?.promise().recognises_repeats());
    Ok(())
}

#[tokio::test]
async fn add_beyond_the_given_range_is_out_of_bounds() -> Result<()> {
    let stock = store().await?.counters("stock")?;
    let add = |delta| stock.add("red-shoes", delta);
    assert_eq!(add(5).within(..).by("delivery").await?, Counted::Applied { value: Some(5) });
    assert_eq!(add(1).within(..7).by("to-6").await?, Counted::Applied { value: Some(6) });
    assert_eq!(add(1).within(..7).by("to-7").await?, Counted::OutOfBounds);
    assert_eq!(add(1).within(0..=7).by("to-7-again").await?, Counted::Applied { value: Some(7) });
    assert_eq!(add(-1).within(7..).by("back-to-6").await?, Counted::OutOfBounds);
    let above_6 = (Bound::Excluded(6), Bound::Unbounded);
    assert_eq!(add(-1).within(above_6).by("below-7").await?, Counted::OutOfBounds);
    for empty in [
        (Bound::Included(1), Bound::Excluded(1)),
        (Bound::Included(1), Bound::Included(0)),
        (Bound::Unbounded, Bound::Excluded(i64::MIN)),
        (Bound::Excluded(i64::MAX), Bound::Unbounded),
    ] {
        let refused = add(1).within(empty).by("empty").await.map_err(|error| error.kind());
        assert_eq!(refused, Err(ErrorKind::InvalidInput), "{empty:?}");
    }
    assert_eq!(stock.value("red-shoes").await?, 7);
    Ok(())
}

#[tokio::test]
async fn log_calls_on_counters_without_a_log_are_misconfigured() -> Result<()> {
    let stock = store().await?.counters("stock")?;
    for refused in [
        stock.log("red-shoes").all().await.map(drop),
        stock.compact("red-shoes", HOUR, 10).await.map(drop),
        stock.value_within("red-shoes", HOUR).await.map(drop),
    ] {
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::Misconfigured));
    }
    Ok(())
}

#[test]
fn run_to_end_without_a_tokio_runtime_is_misconfigured() {
    let jobs = Store::new(MemoryStore::new()).dedup("jobs").unwrap();
    let mut run = jobs.run("job-1", async |_fence| Ok::<_, Error>("done")).to_end().into_future();
    let refused = run.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Err(RunError::Store(error))) = refused else { panic!("{refused:?}") };
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
}

#[tokio::test]
async fn a_ledger_logs_and_compacts_changes() -> Result<()> {
    let balances = store().await?.counters_with("balances", Strategy::Ledger)?;
    let _first = balances.add("ada", 30).because("opening balance").by("deposit-1").await?;
    let _second = balances.add("ada", -5).by("withdrawal-1").await?;
    assert!(matches!(balances.add("ada", -5).by("withdrawal-1").await?, Counted::AlreadyApplied { .. }));
    let log = balances.log("ada").all().await?;
    assert!(
        matches!(&log[0], LedgerEntry::Change { reason: Some(reason), .. } if reason.as_str() == "opening balance")
    );
    assert_eq!(balances.compact("ada", Duration::ZERO, 10).await?.deleted, 2);
    assert_eq!(balances.cancel("ada").by("withdrawal-2").await?, Cancelled::Cancelled);
    assert_eq!((balances.value("ada").await?, balances.value_within("ada", HOUR).await?), (25, 25));
    assert!(balances.add("ada", -5).within(0..).by("withdrawal-3").await.is_err());
    Ok(())
}

#[tokio::test]
async fn ordered_values_are_written_reset_and_purged() -> Result<()> {
    let store = store().await?;
    let ratings = store.ordered_with("ratings", OrderedOptions::sequence())?;
    assert_eq!(ratings.put("movie-a", "5 stars").at(20).by("phone").await?, Written::Applied);
    assert_eq!(ratings.put("movie-a", "5 stars").at(20).by("phone").await?, Written::Duplicate);
    assert!(matches!(ratings.put("movie-a", "3 stars").at(10).by("laptop").await?, Written::Stale { .. }));
    let found = ratings.get("movie-a").await?.expect("it was put");
    assert_eq!((found.value.as_bytes(), found.stamp.at), (&b"5 stars"[..], 20));
    assert!(
        matches!(ratings.reset("movie-a").at(20).by("laptop").await?, Reset::Stale { current } if current.at == 20)
    );
    assert_eq!(ratings.list_prefix("movie-").all().await?.len(), 1);
    assert_eq!(ratings.list_prefix("book-").all().await?.len(), 0);
    assert_eq!(ratings.delete("movie-a").at(30).by("phone").await?, Written::Applied);
    assert_eq!(ratings.purge(Duration::ZERO, 10).await?.deleted, 1);
    assert_eq!(ratings.reset("movie-a").at(30).by("phone").await?, Reset::Absent);
    assert!(matches!(
        store.ordered("recent")?.put("movie-a", "3 stars").at(1).by("import").await?,
        Written::TooOld { .. }
    ));
    Ok(())
}

#[tokio::test]
async fn deduplicator_assigns_an_item_from_the_named_bank() -> Result<()> {
    let store = store().await?;
    store.bank("friday")?.add(["seat-50"]).await?;
    let seats = store.deduplicator("students", ["monday", "friday"])?;
    assert!(seats.assign("ada", "monday").await?.item().is_none());
    assert_eq!(seats.assign("ada", "friday").await?.item().map(|seat| seat.as_str()), Some("seat-50"));
    assert!(seats.assign("ada", "sunday").await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_listing_of_many_pages_returns_every_item() -> Result<()> {
    let bank = store().await?.bank("vouchers")?;
    let codes: Vec<String> = (0..250).map(|number| format!("SAVE-{number:03}")).collect();
    bank.add(&codes).await?;
    let mut listed: Vec<_> = bank.list().all().await?.into_iter().map(|entry| entry.item.as_str().to_owned()).collect();
    listed.sort();
    assert_eq!(listed, codes);
    let first = bank.list().page(None, 200).await?;
    let rest = bank.list().page(first.next.as_ref(), 200).await?;
    assert_eq!((first.entries.len(), rest.entries.len(), rest.next), (200, 50, None));
    let refused = bank.list().page(None, 0).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    Ok(())
}

#[tokio::test]
async fn a_listing_is_a_stream_that_ends_after_an_error() -> Result<()> {
    let (store, broken) = (MemoryStore::new(), Arc::new(AtomicBool::new(false)));
    let bank = Store::new(store).without_retry().layer(FailsOnceSet(Arc::clone(&broken))).bank("vouchers")?;
    bank.add((0..150).map(|number| format!("SAVE-{number}"))).await?;
    let mut listing = pin!(bank.list());
    let mut next = async || poll_fn(|context| listing.as_mut().poll_next(context)).await;
    for _ in 0..100 {
        assert!(matches!(next().await, Some(Ok(_))));
    }
    broken.store(true, Ordering::SeqCst);
    assert!(matches!(next().await, Some(Err(error)) if error.kind() == ErrorKind::Unavailable));
    assert!(next().await.is_none());
    Ok(())
}

/// Fails every call while the flag is set.
#[derive(Debug)]
struct FailsOnceSet(Arc<AtomicBool>);

#[async_trait]
impl Layer for FailsOnceSet {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match self.0.load(Ordering::SeqCst) {
            true => Err(Error::new(ErrorKind::Unavailable, "as the test asked")),
            false => next.run().await,
        }
    }
}

#[tokio::test]
async fn capabilities_show_the_parts_of_a_backend() -> Result<()> {
    let all = Store::new(MemoryStore::new()).capabilities()?;
    assert!(all.banks && all.records && all.leases && all.tokens && all.entities && all.joined_tokens);
    assert!(all.ledgers && all.ordered_values && all.strategies.contains(&Strategy::Ledger));
    let some = Store::new(RecordsAlone(MemoryStore::new())).capabilities()?;
    assert!(some.records && !some.banks && !some.leases && !some.ledgers && some.strategies.is_empty());
    Ok(())
}

#[derive(Debug)]
struct RecordsAlone(MemoryStore);

#[async_trait]
impl Backend for RecordsAlone {
    fn backend(&self) -> &'static str {
        "records-alone"
    }

    async fn setup(&self) -> Result<()> {
        self.0.setup().await
    }

    async fn ping(&self) -> Result<()> {
        self.0.ping().await
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        self.0.maintain(max_entries).await
    }

    async fn close(&self) -> Result<()> {
        self.0.close().await
    }

    fn promises(&self) -> Promises {
        self.0.promises()
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        self.0.dedup_repo(name)
    }
}

#[tokio::test]
async fn runs_on_records_without_leases_are_unsupported() -> Result<()> {
    let store = Store::new(RecordsAlone(MemoryStore::new()));
    let orders = store.dedup("orders")?;
    assert!(matches!(orders.record("order-7", "paid").by("worker-1").await?, Recorded::New(_)));
    assert!(orders.get("order-7").await?.is_some());
    let ran = orders.run("order-8", async |_fence| -> Result<&str> { panic!("the run has no lease") }).await;
    assert!(matches!(ran, Err(RunError::Store(error)) if error.kind() == ErrorKind::Unsupported));
    let begun = orders.begin("order-8").by("worker-1").await;
    assert_eq!(begun.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(store.bank("orders").unwrap_err().kind(), ErrorKind::Unsupported);
    Ok(())
}
