//! Opens and closes the file, and runs each call in one transaction.

mod step;

use std::path::PathBuf;
use std::sync::Arc;

use redb::{Database, ReadableDatabase};
use storagebox_core::backend::micros;
use storagebox_core::{Clock, Error, ErrorKind, Result};
use tokio::sync::{Mutex, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::task::spawn_blocking;

use crate::error::{Stepped, not_applied, of_store, unknown};

pub(crate) use step::{Look, Step};

pub(crate) const BACKEND: &str = "redb";

#[derive(Debug)]
pub(crate) struct Client {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    /// The file, or `None` while the file is closed. Calls use the file with the read lock, and open or close the file
    /// with the write lock.
    file: Arc<RwLock<Option<Database>>>,
    /// The lock that admits one write at a time. The thread of the write keeps the lock, even if the caller is dropped.
    turn: Arc<Mutex<()>>,
}

type Open = OwnedRwLockReadGuard<Option<Database>>;
type Alone = OwnedRwLockWriteGuard<Option<Database>>;

impl Client {
    pub(crate) fn new(path: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { path, clock, file: Arc::default(), turn: Arc::default() }
    }

    /// Runs a step that changes the store, in one transaction.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        operation: &'static str,
        step: impl FnOnce(&Step) -> Stepped<T> + Send + 'static,
    ) -> Result<T> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let (open, file, clock) = (self.opened(operation).await?, Arc::clone(&self.file), Arc::clone(&self.clock));
        let call = move || {
            let outcome = database(&open).and_then(|database| write(database, &*clock, step));
            drop(open);
            if matches!(&outcome, Err(error) if error.kind() == ErrorKind::OutcomeUnknown) {
                // redb refuses every call after a disk error. The next call opens the file again.
                *file.blocking_write() = None;
            }
            drop(turn);
            outcome
        };
        on_a_thread(operation, ErrorKind::OutcomeUnknown, call).await
    }

    /// Runs a call that only reads. A write may run at the same time.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        look: impl FnOnce(&Look) -> Stepped<T> + Send + 'static,
    ) -> Result<T> {
        let (open, clock) = (self.opened(operation).await?, Arc::clone(&self.clock));
        on_a_thread(operation, ErrorKind::Unavailable, move || read(database(&open)?, &*clock, look)).await
    }

    /// Creates the file and its tables if they do not exist (S-1).
    pub(crate) async fn setup(&self, create: fn(&Step) -> Stepped<()>) -> Result<()> {
        let (mut file, path, clock) = (self.alone().await, self.path.clone(), Arc::clone(&self.clock));
        let setup = move || {
            let database = file.take().map_or_else(|| Database::create(path).map_err(of_store), Ok)?;
            write(&database, &*clock, |step| step.set_up().and_then(|()| create(step)))?;
            *file = Some(database);
            Ok(())
        };
        on_a_thread("setup", ErrorKind::OutcomeUnknown, setup).await
    }

    /// Runs `work` while the file is closed and no other call is in progress. Later calls wait for the end of `work`,
    /// and open the file again.
    pub(crate) async fn lend<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let mut file = self.alone().await;
        let close = move || match file.take().map_or(Ok(()), Database::close) {
            Ok(()) => Ok(file),
            Err(error) => Err(of_store(error)),
        };
        let closed = on_a_thread("close", ErrorKind::Unavailable, close).await?;
        let done = work.await;
        drop(closed);
        Ok(done)
    }

    async fn alone(&self) -> Alone {
        Arc::clone(&self.file).write_owned().await
    }

    /// Returns the open file. Opens the file first if it is closed.
    async fn opened(&self, operation: &'static str) -> Result<Open> {
        let open = Arc::clone(&self.file).read_owned().await;
        if open.is_some() {
            return Ok(open);
        }
        drop(open);
        let (mut file, path) = (self.alone().await, self.path.clone());
        let open = move || {
            if file.is_none() {
                *file = Some(open_file(path)?);
            }
            Ok(OwnedRwLockWriteGuard::downgrade(file))
        };
        on_a_thread(operation, ErrorKind::Unavailable, open).await
    }
}

fn open_file(path: PathBuf) -> Result<Database> {
    let database = Database::open(path).map_err(of_store)?;
    Look::at(database.begin_read().map_err(of_store)?, 0).and_then(|look| look.check_version()).map_err(not_applied)?;
    Ok(database)
}

fn database(open: &Open) -> Result<&Database> {
    open.as_ref().ok_or_else(|| Error::new(ErrorKind::Unavailable, "the file is closed"))
}

fn write<T>(database: &Database, clock: &dyn Clock, step: impl FnOnce(&Step) -> Stepped<T>) -> Result<T> {
    let transaction = database.begin_write().map_err(of_store)?;
    // Reads the clock after the wait for other writers.
    let now = micros(clock.now());
    let call = Step::at(transaction, now).map_err(not_applied)?;
    // If the step fails, dropping the transaction undoes its changes.
    let outcome = step(&call).map_err(not_applied)?;
    call.commit().map_err(unknown)?;
    Ok(outcome)
}

fn read<T>(database: &Database, clock: &dyn Clock, look: impl FnOnce(&Look) -> Stepped<T>) -> Result<T> {
    // Reads the clock before the snapshot, in which a hold that was extended in between would look expired.
    let now = micros(clock.now());
    let transaction = database.begin_read().map_err(of_store)?;
    Look::at(transaction, now).and_then(|call| look(&call)).map_err(not_applied)
}

/// Runs a blocking call on a separate thread. The call continues even if its caller is dropped.
async fn on_a_thread<T: Send + 'static>(
    operation: &'static str,
    lost: ErrorKind,
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let lost = |_| Err(Error::new(lost, "the thread of the call ended without an answer"));
    let outcome = spawn_blocking(call).await.unwrap_or_else(lost);
    outcome.map_err(|error| error.during(operation).on(BACKEND))
}
