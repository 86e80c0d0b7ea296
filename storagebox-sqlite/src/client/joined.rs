//! The connection of a transaction of the caller (J-1 to J-3).

use std::convert::Infallible;
use std::future::pending;
use std::path::Path;
use std::sync::Arc;

use sqlx::sqlite::SqliteRow;
use sqlx::{Executor, Row, SqliteConnection, raw_sql};
use storagebox_core::{Result, Transaction, async_trait};
use tokio::sync::{mpsc, oneshot};

use super::call::Job;
use super::{Ask, Inner, library};
use crate::error;

const BEGIN: &str = include_str!("../../sql/joined/begin.sql");
const END: &str = include_str!("../../sql/joined/end.sql");
const UNDO: &str = include_str!("../../sql/joined/undo.sql");
const CHECK: &str = include_str!("../../sql/joined/check.sql");
const PROVE: &str = include_str!("../../sql/joined/prove.sql");

/// The queue for the requests of calls within a caller's transaction.
pub(super) struct Joined(mpsc::UnboundedSender<Request>);

enum Request {
    Write(Arc<dyn Job>, oneshot::Sender<Result<()>>),
    Read(Reading, oneshot::Sender<Result<Vec<SqliteRow>>>),
}

/// Prepares a reading statement with the time at which it is called.
type Reading = Box<dyn FnOnce() -> Ask<'static> + Send>;

/// A caller's transaction in which calls are made.
pub(crate) struct OpenTransaction<'t> {
    connection: &'t mut SqliteConnection,
    requests: mpsc::UnboundedReceiver<Request>,
    inner: Arc<Inner>,
    is_proven: bool,
}

/// Returns the queue for requests, and the transaction that executes the requests.
pub(super) fn join<'t>(connection: &'t mut SqliteConnection, inner: &Arc<Inner>) -> (Joined, OpenTransaction<'t>) {
    let (to, requests) = mpsc::unbounded_channel();
    (Joined(to), OpenTransaction { connection, requests, inner: Arc::clone(inner), is_proven: false })
}

impl Joined {
    pub(super) async fn write(&self, job: Arc<dyn Job>) -> Result<()> {
        self.answer(|answer| Request::Write(job, answer)).await
    }

    pub(super) async fn read(&self, ask: impl FnOnce() -> Ask<'static> + Send + 'static) -> Result<Vec<SqliteRow>> {
        self.answer(|answer| Request::Read(Box::new(ask), answer)).await
    }

    async fn answer<T>(&self, request: impl FnOnce(oneshot::Sender<Result<T>>) -> Request) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.0.send(request(answer)).map_err(|_| error::over())?;
        answered.await.map_err(|_| error::over())?
    }
}

#[async_trait]
impl Transaction for OpenTransaction<'_> {
    async fn serve(&mut self) -> Infallible {
        while let Some(request) = self.requests.recv().await {
            // If the call was dropped, nothing reads the answer.
            match request {
                Request::Write(job, answer) => drop(answer.send(self.write(&*job).await)),
                Request::Read(ask, answer) => drop(answer.send(self.read(ask).await)),
            }
        }
        pending().await
    }
}

impl OpenTransaction<'_> {
    async fn write(&mut self, job: &dyn Job) -> Result<()> {
        self.prove().await?;
        self.run(BEGIN).await.map_err(error::not_immediate)?;
        match job.make(self.connection).await {
            Ok(()) => self.run(END).await.map_err(error::before_commit),
            Err(error) => {
                // SQLite may have rolled back everything already, for example on a full disk.
                let _undone = self.run(UNDO).await;
                Err(error)
            }
        }
    }

    async fn read(&mut self, ask: Reading) -> Result<Vec<SqliteRow>> {
        self.prove().await?;
        ask().fetch_all(&mut *self.connection).await.map_err(error::before_commit)
    }

    /// Checks, before the first request, that the connection is inside a transaction and on the file of the store.
    async fn prove(&mut self) -> Result<()> {
        if self.is_proven {
            return Ok(());
        }
        let found = self.connection.fetch_one(raw_sql(CHECK)).await.map_err(error::before_commit)?;
        let (checks, file): (i64, String) = (column(&found, "checks")?, column(&found, "file")?);
        if checks == 0 {
            return Err(error::no_foreign_keys());
        }
        if !self.inner.connections.are_on(Path::new(&file)) {
            return Err(error::another_file());
        }
        library::check_shared(self.connection, self.inner.settings.synchronous).await?;
        self.run(PROVE).await.map_err(error::not_immediate)?;
        self.is_proven = true;
        Ok(())
    }

    async fn run(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        self.connection.execute(raw_sql(sql)).await.map(drop)
    }
}

fn column<'r, T>(row: &'r SqliteRow, name: &str) -> Result<T>
where
    T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    error::read("the connection", row.try_get(name))
}
