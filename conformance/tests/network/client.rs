//! A client with a pool of connections, and with at most one mistake.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::layer::Response;
use storagebox_core::{Error, ErrorKind, Result};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::locks::Locks;
use crate::server::{Desk, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    None,
    /// Reports a cut connection as if nothing had been done.
    SaysNotApplied,
    /// Reports a cut connection as an error that must not be retried.
    SaysNotRetryable,
    /// Returns a cut connection to the pool.
    KeepsCutConnections,
    /// Returns the connection of a dropped call to the pool before the answer to the call has arrived.
    KeepsDroppedConnections,
    /// Acknowledges the first call after a dropped call without executing the call.
    LosesWhatFollowsADrop,
    /// Remembers a counter's operation in one request, and applies the operation in the next request.
    RemembersBeforeItCounts,
    /// Repeats a counter's change after the connection was cut, although the server does not recognise repetitions.
    RepeatsInDoubt,
    /// The server loses acknowledged data when it is killed.
    LosesAllInAKill,
    /// Commits a take in a request of its own, and locks nothing: takes what a repetition of the call was refused
    /// meanwhile.
    CommitsWhatWasRefused,
}

#[derive(Debug)]
pub(crate) struct Client {
    server: SocketAddr,
    desk: Arc<Mutex<Desk>>,
    idle: Mutex<Vec<Connection>>,
    pub(crate) mistake: Mistake,
    locks: Locks,
    in_a_transaction: AtomicBool,
    /// The number of calls that the client refuses before it connects again.
    refusals: AtomicUsize,
}

type Connection = BufReader<TcpStream>;

/// The connection that a call uses. A dropped call closes the connection, except with the mistake
/// `KeepsDroppedConnections`.
struct InUse<'a> {
    client: &'a Client,
    connection: Option<Connection>,
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        match self.client.mistake {
            Mistake::KeepsDroppedConnections => lock(&self.client.idle).push(connection),
            Mistake::LosesWhatFollowsADrop => self.client.in_a_transaction.store(true, Ordering::SeqCst),
            _ => {}
        }
    }
}

impl Client {
    pub(crate) fn new(server: SocketAddr, desk: Arc<Mutex<Desk>>, mistake: Mistake, locks: Locks) -> Self {
        let (idle, in_a_transaction, refusals) = Default::default();
        Self { server, desk, idle, mistake, locks, in_a_transaction, refusals }
    }

    /// Sends a request that contains the text of the id and makes the server execute `deed`.
    pub(crate) async fn call(
        &self,
        id: &str,
        deed: impl Future<Output = Result<Response>> + Send + 'static,
    ) -> Result<Response> {
        self.refuse_for_a_while()?;
        let mut used = InUse { client: self, connection: Some(self.connection().await?) };
        if let (true, Some(connection)) = (self.locks != Locks::None, &mut used.connection) {
            // A failure drops the connection, so the server frees the lock and nothing was done.
            self.lock(connection, id).await?;
        }
        let number = lock(&self.desk).ask(Box::pin(deed));
        let answered = match &mut used.connection {
            Some(connection) => ask(connection, number, self.locks.text(id)).await,
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        let connection = used.connection.take();
        match answered {
            Ok(answered) => {
                lock(&self.idle).extend(connection);
                self.read(answered)
            }
            Err(error) => {
                let kept = self.mistake == Mistake::KeepsCutConnections;
                lock(&self.idle).extend(connection.filter(|_| kept));
                Err(self.lost(error))
            }
        }
    }

    async fn lock(&self, connection: &mut Connection, id: &str) -> Result<()> {
        match lock_on(connection, self.locks.wait(), self.locks.name(id)).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::new(ErrorKind::Contention, "another call has the lock")),
            Err(error) => {
                let refusals = if self.locks == Locks::RowForAMoment { 5 } else { 0 };
                self.refusals.store(refusals, Ordering::SeqCst);
                Err(Error::new(ErrorKind::Unavailable, "the connection ended before the write").caused_by(error))
            }
        }
    }

    fn refuse_for_a_while(&self) -> Result<()> {
        let refused = self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match refused {
            Ok(_) => Err(Error::new(ErrorKind::Unavailable, "the client waits before it connects again")),
            Err(_) => Ok(()),
        }
    }

    /// Returns whether the client acknowledges this call without executing it.
    pub(crate) fn is_swallowed(&self) -> bool {
        self.in_a_transaction.swap(false, Ordering::SeqCst)
    }

    async fn connection(&self) -> Result<Connection> {
        let idle = lock(&self.idle).pop();
        if let Some(connection) = idle {
            return Ok(connection);
        }
        let connection = TcpStream::connect(self.server).await;
        connection
            .map(BufReader::new)
            .map_err(|error| Error::new(ErrorKind::Unavailable, "no connection; call again later").caused_by(error))
    }

    fn read(&self, number: u64) -> Result<Response> {
        let answer = lock(&self.desk).answer(number);
        answer.unwrap_or_else(|| Err(Error::corrupt(number, "no answer has this number")))
    }

    fn lost(&self, error: io::Error) -> Error {
        match self.mistake {
            Mistake::SaysNotApplied => Error::new(ErrorKind::Unavailable, "the connection was cut"),
            Mistake::SaysNotRetryable => Error::corrupt("the answer", "the connection was cut").after_unresolved(),
            _ => Error::unknown("the connection was cut; call again with the same id"),
        }
        .caused_by(error)
    }
}

/// Asks for the lock, and returns whether the server gave it.
async fn lock_on(connection: &mut Connection, wait: Duration, name: &str) -> io::Result<bool> {
    connection.get_ref().set_nodelay(true)?;
    let wait = wait.as_millis().min(u64::MAX.into());
    let answer = line(connection, format!("lock {wait} {}\n", name.escape_debug())).await?;
    match &*answer {
        "locked\n" | "busy\n" => Ok(answer == "locked\n"),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Sends request `number`, waits for an answer, and returns the request number that the answer contains.
async fn ask(connection: &mut Connection, number: u64, id: &str) -> io::Result<u64> {
    connection.get_ref().set_nodelay(true)?;
    let answer = line(connection, format!("{number} {}\n", id.escape_debug())).await?;
    answer.strip_suffix('\n').and_then(|number| number.parse().ok()).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Sends a request and returns the line of its answer.
async fn line(connection: &mut Connection, request: String) -> io::Result<String> {
    connection.get_mut().write_all(request.as_bytes()).await?;
    // Yields even if the answer comes quickly, so that a call in flight can always be dropped.
    tokio::task::yield_now().await;
    let mut answer = String::new();
    connection.read_line(&mut answer).await?;
    Ok(answer)
}
