//! Transactions: begun when the file is to be had, shared by the calls that came meanwhile.

use std::sync::Arc;

use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};
use storagebox_core::{Combine, Combined, Error, ErrorKind, Result, Spawn};
use tokio::runtime::Handle;

use super::call::Job;
use super::writing::Writing;
use super::{Inner, Pauses};
use crate::error;

type Answers = Vec<Combined<Result<()>>>;

/// A call in the queue. No two are about the same: within a transaction they are made one after another.
pub(super) struct Work(Arc<dyn Job>);

impl Work {
    pub(super) fn new(job: Arc<dyn Job>) -> Self {
        Self(job)
    }
}

impl Combine for Work {
    type Key = usize;
    type Answer = ();

    const BACKEND: &'static str = "sqlite";
    /// The caller names its own operation.
    const OPERATION: &'static str = "write";

    fn key(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }
}

/// Starts tasks in the runtime that is there now; without one the work is dropped, and those who wait for it go alone.
pub(super) fn spawner() -> Arc<Spawn> {
    match Handle::try_current() {
        Ok(runtime) => Arc::new(move |work| drop(runtime.spawn(work))),
        Err(_) => Arc::new(drop),
    }
}

pub(super) async fn together(inner: Arc<Inner>, works: Vec<Work>) -> Answers {
    let jobs: Vec<_> = works.into_iter().map(|work| work.0).collect();
    make(&inner, &jobs).await
}

/// Makes the calls in one transaction: what became of each.
pub(super) async fn make(inner: &Inner, jobs: &[Arc<dyn Job>]) -> Answers {
    match attempt(inner, jobs).await {
        Ok(answers) => answers,
        Err(error) => {
            let others: Vec<_> = jobs.iter().skip(1).map(|_| error::shared(&error)).collect();
            std::iter::once(error).chain(others).map(|error| Combined::Answer(Err(error))).collect()
        }
    }
}

/// Tries until the file is to be had, for as long as anybody waits for it.
async fn attempt(inner: &Inner, jobs: &[Arc<dyn Job>]) -> Result<Answers> {
    let mut writing = inner.connections.writing(|| is_wanted(jobs)).await?;
    // Where the caller's pool waits for the file is not ours to know, and the time is read before.
    if !inner.connections.are_shared()
        && let Some(made) = at_once(writing.connection(), jobs).await
    {
        return ended(inner, writing, made, true);
    }
    let mut pauses = Pauses::new();
    while is_wanted(jobs) {
        writing.begins();
        let made = match writing.connection().begin_with("BEGIN IMMEDIATE").await {
            Ok(transaction) => {
                inner.connections.are_still_there()?;
                Some(within(transaction, jobs).await)
            }
            Err(error) if error::is_busy(&error) => None,
            Err(error) => return Err(inner.connections.explained(error)),
        };
        match made {
            Some((answers, is_clean)) => return ended(inner, writing, answers, is_clean),
            None => pauses.wait().await,
        }
    }
    writing.end(true);
    Ok(jobs.iter().map(|_| Combined::Answer(Err(unwanted()))).collect())
}

/// Gives the connection back, if it is as it was before. What was committed to files that were replaced meanwhile is
/// not acknowledged.
fn ended(inner: &Inner, mut writing: Writing<'_>, made: Result<Answers>, is_clean: bool) -> Result<Answers> {
    let answers = match made {
        Ok(answers) => answers,
        Err(error) => {
            // A pool would hand it out again, in the middle of its transaction.
            writing.end(false);
            return Err(error);
        }
    };
    let still_there = inner.connections.are_still_there().and_then(|()| writing.meet_beside());
    still_there.map_err(error::replaced_meanwhile)?;
    writing.end(is_clean);
    Ok(answers)
}

/// A call by itself, without a transaction around it; `None` if that did not settle it, or somebody was in the way.
async fn at_once(connection: &mut SqliteConnection, jobs: &[Arc<dyn Job>]) -> Option<Result<Answers>> {
    let [job] = jobs else { return None };
    let making = job.make_at_once(connection)?;
    if !job.progress().begin() {
        return None;
    }
    job.progress().end();
    match making.await {
        Ok(true) => {
            job.committed();
            Some(Ok(vec![Combined::Answer(Ok(()))]))
        }
        Err(error) if !error::is_of_before(&error) => Some(Err(error::at_end(error))),
        Ok(false) | Err(_) => {
            job.progress().wait_again();
            None
        }
    }
}

fn is_wanted(jobs: &[Arc<dyn Job>]) -> bool {
    jobs.iter().any(|job| !job.progress().is_withdrawn())
}

/// Nobody reads it.
fn unwanted() -> Error {
    Error::new(ErrorKind::Contention, "the call was withdrawn").on("sqlite")
}

/// What became of each, and whether the connection is as it was before.
async fn within(mut transaction: Transaction<'_, Sqlite>, jobs: &[Arc<dyn Job>]) -> (Result<Answers>, bool) {
    let made = match each(&mut transaction, jobs).await {
        Ok(made) => made,
        Err(failed) => {
            let is_clean = transaction.rollback().await.is_ok();
            return (rolled_back(jobs, failed), is_clean);
        }
    };
    jobs.iter().for_each(|job| job.progress().end());
    match transaction.commit().await {
        Ok(()) => {
            made.iter().zip(jobs).filter(|(made, _)| made.is_ok()).for_each(|(_, job)| job.committed());
            (Ok(made.into_iter().map(Combined::Answer).collect()), true)
        }
        Err(error) => (Err(error::at_commit(error)), false),
    }
}

/// Each call in turn. A refusal is its answer: it comes before the first change of its step.
async fn each(connection: &mut SqliteConnection, jobs: &[Arc<dyn Job>]) -> Result<Vec<Result<()>>> {
    let mut made = Vec::with_capacity(jobs.len());
    for job in jobs {
        made.push(match job.progress().begin() {
            false => Err(unwanted()),
            true => match job.make(connection).await {
                Err(error) if !is_refusal(&error) => return Err(error),
                made => made,
            },
        });
    }
    Ok(made)
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Misconfigured | ErrorKind::Unsupported)
}

/// One call has its error; of many, each is made alone, so that none fails for its neighbour's sake.
fn rolled_back(jobs: &[Arc<dyn Job>], failed: Error) -> Result<Answers> {
    match jobs {
        [_] => Ok(vec![Combined::Answer(Err(failed))]),
        _ => {
            jobs.iter().for_each(|job| job.progress().wait_again());
            Ok(jobs.iter().map(|_| Combined::Alone).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use storagebox_core::{
        Certainty, Change, ClaimId, Counter, Hold, Item, ItemBank, Key, Namespace, OpId, Strategy, Taken,
    };
    use storagebox_testkit::Folder;

    use crate::client::{Client, Connections};
    use crate::config::Settings;
    use crate::counter::SqliteCounter;
    use crate::item_bank::SqliteBank;
    use crate::schema;

    use super::*;

    async fn client(folder: &Folder) -> Result<Arc<Client>> {
        let settings = Settings::default();
        let client = Client::new(Connections::own(&folder.path().join("namespace.db"), &settings), settings);
        schema::setup(&client).await?;
        Ok(client)
    }

    /// Gives the connection that writes into the hands of a hook, which is told of each commit.
    async fn hooked(client: &Client, hook: impl Fn() -> bool + Send + 'static) -> Result<()> {
        let mut writing = client.connections().writing(|| true).await?;
        writing.connection().lock_handle().await.unwrap().set_commit_hook(hook);
        writing.end(true);
        Ok(())
    }

    /// A bank of two items behind a hook.
    async fn bank(folder: &Folder, hook: impl Fn() -> bool + Send + 'static) -> Result<SqliteBank> {
        let client = client(folder).await?;
        let bank = SqliteBank::new(&client, &Namespace::new("namespace")?);
        bank.add(&[Item::new("one")?, Item::new("another")?]).await?;
        hooked(&client, hook).await?;
        Ok(bank)
    }

    #[tokio::test]
    async fn a_take_by_itself_commits_once_and_asked_again_no_more_often() -> Result<()> {
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
        // The bank is empty: the statement changes nothing, and a transaction tells so.
        assert_eq!(bank.take(&ClaimId::new("eve")?, Hold::Forever).await?, Taken::Empty);
        assert_eq!(commits.load(Ordering::SeqCst), 5);
        Ok(())
    }

    #[tokio::test]
    async fn the_first_look_of_a_namespace_commits_once_and_the_next_one_not() -> Result<()> {
        let (folder, commits) = (Folder::new("sqlite-test").unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&commits);
        let client = client(&folder).await?;
        hooked(&client, move || counted.fetch_add(1, Ordering::SeqCst) < usize::MAX).await?;
        for expected in [1, 2] {
            // Another handle is another first look, as that of another process.
            let bank = SqliteBank::new(&client, &Namespace::new("namespace")?);
            for _ in 0..2 {
                assert_eq!(bank.counts().await?.total(), 0);
                assert_eq!(commits.load(Ordering::SeqCst), expected);
            }
        }
        Ok(())
    }

    /// What the driver says of a statement that could not end is no proof that it left nothing.
    #[tokio::test]
    async fn a_take_by_itself_whose_end_fails_may_have_been_applied() -> Result<()> {
        let folder = Folder::new("sqlite-test").unwrap();
        let bank = bank(&folder, || false).await?;
        let ada = ClaimId::new("ada")?;
        assert_eq!(bank.take(&ada, Hold::Forever).await.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        // The connection is not used again, and the next one has no hook.
        assert!(matches!(bank.take(&ada, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    }

    /// A counter that would not know its change again leaves it to the caller, one that remembers asks for the same
    /// call.
    #[tokio::test]
    async fn a_change_whose_end_fails_is_repeated_only_where_it_is_remembered() -> Result<()> {
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
}
