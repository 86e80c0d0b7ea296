//! Futures that are polled and then neither polled again nor dropped: no other call waits for them.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use sqlx::{Connection, SqliteConnection};
use storagebox_core::{
    Backend, Certainty, ClaimId, DedupRepo, ErrorKind, Hold, Item, ItemBank, Recorded, Result, Retention, Taken,
};
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::drop_after;
use storagebox_testkit::checks::dropping::Dropped;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, yield_now};
use tokio::time::timeout;

use crate::support::{Place, failed};

/// A timeout that no call reaches, even on a slow machine.
const EVER: Duration = Duration::from_secs(60);

type Left<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

fn items(name: &str, count: usize) -> Result<Vec<Item>> {
    (0..count).map(|number| Item::new(format!("{name}-{number}"))).collect()
}

/// Makes ten takes while an unpolled call exists, and checks that each take gets an item.
async fn ten_take_beside(store: &SqliteStore, name: &str) -> Result<()> {
    let (bank, mut takes) = (store.item_bank(&"namespace".parse()?)?, JoinSet::new());
    for number in 0..10 {
        let (bank, claim) = (bank.clone(), ClaimId::new(format!("{name}-{number}"))?);
        takes.spawn(async move { bank.take(&claim, Hold::Forever).await });
    }
    let taken = takes.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
    assert!(taken.iter().all(|taken| matches!(taken, Taken::New(_))), "{name}: {taken:?}");
    store.item_bank(&"namespace".parse()?)?.counts().await.map(drop)
}

/// Adds so many items that the call has its own transaction.
async fn add_many(store: SqliteStore, name: String) -> Result<()> {
    store.item_bank(&"namespace".parse()?)?.add(&items(&name, 1_500)?).await.map(drop)
}

async fn make(call: Dropped, store: SqliteStore, id: String) -> Result<()> {
    call.make(&store, &id).await
}

/// Leaves calls of each kind unpolled, at each point where a call waits.
async fn leave_everywhere(store: &SqliteStore) -> Result<()> {
    store.item_bank(&"namespace".parse()?)?.add(&items("first", 2_000)?).await?;
    let mut left: Vec<Left<()>> = vec![];
    for call in Dropped::ALL {
        for waits in 0.. {
            let name = format!("{call:?}-{waits}");
            let mut one: Left<()> = Box::pin(make(call, store.clone(), name.clone()));
            if drop_after(waits, &mut one).await.transpose()?.is_some() {
                break;
            }
            left.push(one);
            ten_take_beside(store, &name).await?;
        }
    }
    let mut many: Left<()> = Box::pin(add_many(store.clone(), "many".to_owned()));
    assert!(drop_after(0, &mut many).await.is_none());
    ten_take_beside(store, "beside many").await
}

#[tokio::test]
async fn an_unpolled_call_blocks_no_other_call() -> Result<()> {
    for combining in [true, false] {
        let place = Place::ready().await?;
        leave_everywhere(&place.builder().combining(combining).open(place.path())?).await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_unpolled_call_keeps_no_connection_of_a_shared_pool() -> Result<()> {
    let place = Place::ready().await?;
    leave_everywhere(&place.builder().from_pool(place.pool())?).await
}

/// There are more unpolled reads than the four connections with which the store reads.
#[tokio::test]
async fn unpolled_reads_block_no_other_reads() -> Result<()> {
    let place = Place::ready().await?;
    let store = place.store()?;
    store.item_bank(&"namespace".parse()?)?.add(&items("first", 10)?).await?;
    let mut left: Vec<Left<()>> = vec![];
    for waits in [0, 1, 2] {
        for _ in 0..5 {
            let mut one: Left<()> = Box::pin(make(Dropped::Look, store.clone(), String::new()));
            if drop_after(waits, &mut one).await.is_none() {
                left.push(one);
            }
        }
    }
    assert!(left.len() >= 5, "only {} looks had to wait", left.len());
    assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.free, 10);
    store.ping().await?;
    ten_take_beside(&store, "then").await
}

fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(failed)
}

async fn remember(store: SqliteStore, id: &'static str) -> Result<()> {
    let recorded = store
        .dedup_repo(&"namespace".parse()?)?
        .record(&id.parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever)
        .await?;
    assert!(matches!(recorded, Recorded::New(_)), "{id}: {recorded:?}");
    Ok(())
}

/// Polls the call twenty times, until the call only waits for the file.
async fn drive_for_a_while(call: &mut Left<()>) {
    for _ in 0..20 {
        assert!(poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await);
        yield_now().await;
    }
}

/// Two runtimes with one thread each, of which the first has a call that waits for the file.
struct Runtimes {
    place: Place,
    first: Runtime,
    second: Runtime,
    store: SqliteStore,
    one: Left<()>,
}

impl Runtimes {
    fn new(call_timeout: Duration) -> Result<(Self, SqliteConnection)> {
        let (first, second) = (runtime()?, runtime()?);
        let place = second.block_on(Place::ready())?;
        let store = place.builder().call_timeout(call_timeout).open(place.path())?;
        second.block_on(remember(store.clone(), "zero"))?;
        let mut other = second.block_on(place.raw())?;
        second.block_on(sqlx::query("BEGIN IMMEDIATE").execute(&mut other)).map_err(failed)?;
        let mut one: Left<()> = Box::pin(remember(store.clone(), "one"));
        first.block_on(drive_for_a_while(&mut one));
        Ok((Self { place, first, second, store, one }, other))
    }
}

/// In some programs each thread has its own runtime, which runs only during the calls of the thread.
#[test]
fn a_stopped_runtime_blocks_no_call_of_another_runtime() -> Result<()> {
    let (runtimes, writer) = Runtimes::new(Duration::from_secs(10))?;
    let mut other: Left<()> = Box::pin(remember(runtimes.store.clone(), "other"));
    runtimes.second.block_on(drive_for_a_while(&mut other));
    runtimes.second.block_on(writer.close()).map_err(failed)?;
    runtimes.first.block_on(runtimes.one)?;
    // The first runtime is not driven any more.
    runtimes.second.block_on(other)?;
    drop(runtimes.place);
    Ok(())
}

/// The call in the stopped runtime has the connection that writes.
#[test]
fn a_call_blocked_by_a_stopped_runtime_is_contention() -> Result<()> {
    let (runtimes, writer) = Runtimes::new(Duration::from_millis(200))?;
    runtimes.second.block_on(writer.close()).map_err(failed)?;
    let error = runtimes.second.block_on(remember(runtimes.store.clone(), "other")).unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Contention, Certainty::NotApplied));
    assert!(error.to_string().contains("a runtime that no longer runs"), "{error}");
    Ok(())
}

/// A call in the stopped runtime gets the connection after the deletion of the upkeep. Regression: the upkeep then waited
/// for ever.
#[test]
fn upkeep_does_not_wait_for_a_stopped_runtime() -> Result<()> {
    let (stopped, other) = (runtime()?, runtime()?);
    let place = other.block_on(Place::ready())?;
    let store = place.builder().call_timeout(Duration::from_secs(3)).open(place.path())?;
    other.block_on(remember(store.clone(), "zero"))?;
    let mut writer = other.block_on(place.raw())?;
    other.block_on(sqlx::query("BEGIN IMMEDIATE").execute(&mut writer)).map_err(failed)?;
    let maintained = store.clone();
    let mut upkeep: Left<()> = Box::pin(async move { maintained.maintain(10).await.map(drop) });
    other.block_on(drive_for_a_while(&mut upkeep));
    let mut left: Left<()> = Box::pin(remember(store, "one"));
    stopped.block_on(drive_for_a_while(&mut left));
    other.block_on(writer.close()).map_err(failed)?;
    other.block_on(async { timeout(EVER, upkeep).await.map_err(failed)? })
}
