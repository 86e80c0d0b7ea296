//! The outcomes of calls whose transaction or commit fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::{AssertSqlSafe, raw_sql};
use storagebox_core::{
    Certainty, Change, ClaimId, Counter, DedupRepo, Hold, Item, ItemBank, Key, Namespace, OpId, Recorded, Retention,
    Strategy, Taken,
};
use storagebox_testkit::Folder;
use tokio::task::yield_now;

use crate::client::{Client, Connections, Kind, OpenNamespace};
use crate::config::Settings;
use crate::counter::SqliteCounter;
use crate::dedup_repo::SqliteDedupRepo;
use crate::item_bank::SqliteBank;
use crate::schema;

use super::*;

async fn client(folder: &Folder) -> Result<Arc<Client>> {
    let settings = Settings::default();
    let client = Client::new(Connections::own(&folder.path().join("store.db"), &settings), settings);
    schema::setup(&client).await?;
    Ok(client)
}

async fn hooked(client: &Client, hook: impl Fn() -> bool + Send + 'static) -> Result<()> {
    let mut writing = client.connections().writing(|| true).await?;
    writing.connection().lock_handle().await.unwrap().set_commit_hook(hook);
    writing.end(true);
    Ok(())
}

/// Opens a bank with two items. A commit fails if `hook` returns `false`.
async fn bank(folder: &Folder, hook: impl Fn() -> bool + Send + 'static) -> Result<SqliteBank> {
    let client = client(folder).await?;
    let bank = SqliteBank::new(&client, &Namespace::new("namespace")?);
    bank.add(&[Item::new("one")?, Item::new("another")?]).await?;
    hooked(&client, hook).await?;
    Ok(bank)
}

#[tokio::test]
async fn a_take_without_a_transaction_commits_once() -> Result<()> {
    let (folder, commits) = (Folder::new("sqlite-test").unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&commits);
    let bank = bank(&folder, move || counted.fetch_add(1, Ordering::SeqCst) < usize::MAX).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    let first = bank.take(&ada, Hold::Forever).await?;
    assert!(matches!(first, Taken::New(_)), "{first:?}");
    assert_eq!(commits.load(Ordering::SeqCst), 1);
    let again = bank.take(&ada, Hold::Forever).await?;
    assert!(matches!(again, Taken::Again(_)), "{again:?}");
    assert_eq!(commits.load(Ordering::SeqCst), 2);
    let other = bank.take(&bob, Hold::Forever).await?;
    assert!(matches!(other, Taken::New(_)), "{other:?}");
    assert_eq!(commits.load(Ordering::SeqCst), 3);
    // The bank is empty: the statement changes nothing, and the transaction after it returns `Empty`.
    assert_eq!(bank.take(&ClaimId::new("eve")?, Hold::Forever).await?, Taken::Empty);
    assert_eq!(commits.load(Ordering::SeqCst), 5);
    Ok(())
}

#[tokio::test]
async fn only_the_first_read_of_a_namespace_commits() -> Result<()> {
    let (folder, commits) = (Folder::new("sqlite-test").unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&commits);
    let client = client(&folder).await?;
    hooked(&client, move || counted.fetch_add(1, Ordering::SeqCst) < usize::MAX).await?;
    for (name, expected) in [("one", 1), ("other", 2)] {
        let bank = SqliteBank::new(&client, &Namespace::new(name)?);
        for _ in 0..2 {
            assert_eq!(bank.counts().await?.total(), 0);
            assert_eq!(commits.load(Ordering::SeqCst), expected);
        }
    }
    Ok(())
}

/// The driver's error for a statement whose commit failed does not say whether the statement changed anything.
#[tokio::test]
async fn a_take_whose_statement_fails_at_its_commit_is_unknown() -> Result<()> {
    let folder = Folder::new("sqlite-test").unwrap();
    let bank = bank(&folder, || false).await?;
    let ada = ClaimId::new("ada")?;
    assert_eq!(bank.take(&ada, Hold::Forever).await.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    // The connection is not used again. The next one has no hook.
    assert!(matches!(bank.take(&ada, Hold::Forever).await?, Taken::New(_)));
    Ok(())
}

/// A counter that does not remember a change could apply the change twice after a retry.
#[tokio::test]
async fn a_failed_commit_is_retryable_only_if_changes_are_remembered() -> Result<()> {
    let (key, change) = (Key::new("key")?, Change::new(OpId::new("op")?, 1));
    for (strategy, may_be_repeated) in [(Strategy::Atomic, false), (Strategy::default(), true)] {
        let folder = Folder::new("sqlite-test").unwrap();
        let client = client(&folder).await?;
        let counter = SqliteCounter::new(&client, &Namespace::new("namespace")?, strategy)?;
        counter.value(&key).await?;
        hooked(&client, || false).await?;
        let error = counter.apply(&key, &change).await.unwrap_err();
        assert_eq!((error.certainty(), error.is_retryable()), (Certainty::Unknown, may_be_repeated), "{error}");
    }
    Ok(())
}

async fn run(client: &Client, sql: &str) -> Result<()> {
    let mut writing = client.connections().writing(|| true).await?;
    raw_sql(AssertSqlSafe(sql.to_owned())).execute(writing.connection()).await.unwrap();
    writing.end(true);
    Ok(())
}

/// Inserts a record without a version, which no call of the library does.
const DAMAGED: &str = "INSERT INTO storagebox_records (namespace, id, state, op, value)
    SELECT number, 'damaged', 'done', 'op', x'00' FROM storagebox_namespaces WHERE kind = 'records'";

/// The first call waits for the file. The other calls share the next transaction.
#[tokio::test]
async fn a_failed_call_fails_no_other_call_of_its_transaction() -> Result<()> {
    let folder = Folder::new("sqlite-test").unwrap();
    let client = client(&folder).await?;
    let place = OpenNamespace::new(&client, Kind::Records, &Namespace::new("namespace")?);
    let records = Arc::new(SqliteDedupRepo(Arc::new(place)));
    records.get(&"one".parse()?).await?;
    run(&client, DAMAGED).await?;
    let writing = client.connections().writing(|| true).await?;
    let calls = ["first", "one", "damaged", "another"].map(|id| {
        let records = Arc::clone(&records);
        tokio::spawn(async move {
            records.record(&id.parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await
        })
    });
    for _ in 0..20 {
        yield_now().await;
    }
    writing.end(true);
    for (number, call) in calls.into_iter().enumerate() {
        let recorded = call.await.unwrap();
        match number {
            2 => assert_eq!(recorded.unwrap_err().kind(), ErrorKind::Corrupt),
            _ => assert!(matches!(recorded, Ok(Recorded::New(_))), "call {number}: {recorded:?}"),
        }
    }
    Ok(())
}

/// The driver's error does not say what the take has written.
#[tokio::test]
async fn a_take_without_a_transaction_on_a_full_disk_is_unknown() -> Result<()> {
    let folder = Folder::new("sqlite-test").unwrap();
    let client = client(&folder).await?;
    let bank = SqliteBank::new(&client, &Namespace::new("namespace")?);
    let items: Vec<_> = (0..200).map(|number| Item::new(format!("{number}"))).collect::<Result<_>>()?;
    bank.add(&items).await?;
    // SQLite raises the limit to the present number of pages.
    run(&client, "PRAGMA max_page_count = 1").await?;
    let claims = (0..200).map(|number| ClaimId::new(format!("{number:0>512}"))).collect::<Result<Vec<_>>>()?;
    let mut refused = None;
    for claim in &claims {
        match bank.take(claim, Hold::Forever).await {
            Ok(taken) => assert!(matches!(taken, Taken::New(_)), "{taken:?}"),
            Err(error) => {
                refused = Some((claim, error));
                break;
            }
        }
    }
    let (claim, error) = refused.expect("there is no page left");
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown), "{error:?}");
    // The connection was not kept. The next one has no limit.
    let taken = bank.take(claim, Hold::Forever).await?;
    assert!(matches!(taken, Taken::New(_) | Taken::Again(_)), "{taken:?}");
    Ok(())
}

/// Regression: the driver read the missing version as 0.
#[tokio::test]
async fn a_record_without_a_version_is_corrupt() -> Result<()> {
    let folder = Folder::new("sqlite-test").unwrap();
    let client = client(&folder).await?;
    let place = OpenNamespace::new(&client, Kind::Records, &Namespace::new("namespace")?);
    let (records, id) = (SqliteDedupRepo(Arc::new(place)), "damaged".parse()?);
    assert_eq!(records.get(&id).await?, None);
    run(&client, DAMAGED).await?;
    let recorded = records.record(&id, &"value".try_into()?, &"op".parse()?, Retention::Forever).await.map(drop);
    for error in [records.get(&id).await.map(drop).unwrap_err(), recorded.unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    Ok(())
}
