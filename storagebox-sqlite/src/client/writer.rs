//! Transactions that write. Calls that arrive while the file is busy share the next transaction.

use std::sync::Arc;

use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};
use storagebox_core::{Combine, Combined, Error, ErrorKind, Result, Spawn};
use tokio::runtime::Handle;

use super::call::Job;
use super::writer_slot::WriterGuard;
use super::{Inner, Pauses};
use crate::error;

type Answers = Vec<Combined<Result<()>>>;

/// A call in the combiner's queue.
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
    /// The operation in error texts until `Client::write` sets the name of the call.
    const OPERATION: &'static str = "write";

    // Each call has its own key, because one transaction may make several calls on the same row.
    fn key(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }
}

/// Returns a function that starts tasks in the current runtime. Without a runtime, each waiting call is made alone.
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

pub(super) async fn make(inner: &Inner, jobs: &[Arc<dyn Job>]) -> Answers {
    match attempt(inner, jobs).await {
        Ok(answers) => answers,
        Err(error) => {
            let others: Vec<_> = jobs.iter().skip(1).map(|_| error::shared(&error)).collect();
            std::iter::once(error).chain(others).map(|error| Combined::Answer(Err(error))).collect()
        }
    }
}

/// Makes the calls once the file is locked. Tries to lock the file until this succeeds or all calls are withdrawn.
async fn attempt(inner: &Inner, jobs: &[Arc<dyn Job>]) -> Result<Answers> {
    let mut writing = inner.connections.writing(|| is_wanted(jobs)).await?;
    // A caller's pool needs a transaction: its connections may wait for the lock within a statement, after the time was
    // read.
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

/// Gives the connection back. Returns the answers, or `OutcomeUnknown` if the files were replaced during the commit.
fn ended(inner: &Inner, mut writing: WriterGuard<'_>, made: Result<Answers>, is_clean: bool) -> Result<Answers> {
    let answers = match made {
        Ok(answers) => answers,
        Err(error) => {
            // The connection may be in the middle of a transaction, and a pool would hand it out again.
            writing.end(false);
            return Err(error);
        }
    };
    let still_there = inner.connections.are_still_there().and_then(|()| writing.remember_sidecars());
    still_there.map_err(error::replaced_meanwhile)?;
    writing.end(is_clean);
    Ok(answers)
}

/// Makes a single call without a transaction. Returns `None` if the call needs a transaction, was withdrawn, or failed
/// before it changed anything.
async fn at_once(connection: &mut SqliteConnection, jobs: &[Arc<dyn Job>]) -> Option<Result<Answers>> {
    let [job] = jobs else { return None };
    let making = job.make_at_once(connection)?;
    if !job.progress().begin() {
        return None;
    }
    job.progress().end();
    match making.await {
        // The statement has not checked all tables, so it does not open the namespace.
        Ok(true) => Some(Ok(vec![Combined::Answer(Ok(()))])),
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

/// Returns the answer to a withdrawn call, which no caller reads.
fn unwanted() -> Error {
    Error::new(ErrorKind::Contention, "the call was withdrawn").on("sqlite")
}

/// Makes the calls and commits. Returns the answers, and whether the connection can be used again.
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

/// Makes the calls one after another. A call is refused before its first change, so a refusal does not end the
/// transaction.
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

/// Returns the error for a single call after a rollback. Several calls are made again, each alone.
fn rolled_back(jobs: &[Arc<dyn Job>], failed: Error) -> Result<Answers> {
    match jobs {
        [_] => Ok(vec![Combined::Answer(Err(failed))]),
        _ => {
            jobs.iter().for_each(|job| job.progress().wait_again());
            Ok(jobs.iter().map(|_| Combined::RunAlone).collect())
        }
    }
}

#[cfg(test)]
mod tests;
