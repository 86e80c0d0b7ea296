//! The client: it sends one statement per call, and retries calls.

mod call;
mod connections;
mod connector;
mod gate;
mod joined;
mod look;
mod namespaces;
mod progress;
mod statement_cache;
mod store_info;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::postgres::{PgConnection, PgRow};
use storagebox_core::backend::{Backoff, OpenNamespaces, in_time, micros_of, pauses, repeat};
use storagebox_core::{Attempt, Certainty, Error, ErrorKind, Namespace, Result};
use tokio::time::Instant;

use crate::config::{Schema, Settings};
use crate::error;

pub(crate) use call::{FunctionCall, Opened, SESSION};
use connections::Ask;
pub(crate) use connections::{Connections, Dedicated};
pub(crate) use joined::OpenTransaction;
pub(crate) use look::{text_of_look, with_tables};
pub(crate) use namespaces::{Kind, OpenNamespace, hash};
pub(crate) use progress::Progress;
use statement_cache::StatementCache;
pub(crate) use store_info::{FORMAT, Found, StoreInfo, VERSION, new_epoch};

/// The future of a request that returns rows, boxed so that the futures of callers stay small.
type Rows<'a> = Pin<Box<dyn Future<Output = Result<Vec<PgRow>>> + Send + 'a>>;

type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// The connections and settings of a store, shared by its namespaces.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    store: Arc<Known>,
    /// The store info that the first joined call read in the caller's transaction, which may be in another database.
    /// This info is used only while `Known::info` is not set.
    found: OnceLock<StoreInfo>,
}

/// The fields of a client that a store shares with its joined clients.
#[derive(Debug)]
struct Known {
    settings: Settings,
    statements: StatementCache,
    /// The store info that the first call outside any transaction of the caller read.
    info: OnceLock<StoreInfo>,
    namespaces: OpenNamespaces,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLostReply {
    /// Make one more attempt: the server recognises the operation id.
    Retry,
    /// Make one more attempt of a call whose outcome is already unknown.
    RetryAgain,
    /// Return the error: another attempt could apply the call twice.
    Fail,
}

impl AfterLostReply {
    /// Returns the reaction for a call that is made alone after its batch failed. `is_lost` is true if the reply to the
    /// batch was lost.
    pub(crate) fn after_batch(is_lost: bool) -> Self {
        if is_lost { Self::RetryAgain } else { Self::Retry }
    }
}

impl Client {
    pub(crate) fn new(connections: Connections, settings: Settings) -> Arc<Self> {
        let known = Known { settings, statements: <_>::default(), info: OnceLock::new(), namespaces: <_>::default() };
        Arc::new(Self { connections, store: Arc::new(known), found: OnceLock::new() })
    }

    pub(crate) fn within<'t>(&self, connection: &'t mut PgConnection) -> (Arc<Self>, OpenTransaction<'t>) {
        let (connections, transaction) = joined::join(connection, &self.store.settings);
        let joined = Self { connections, store: Arc::clone(&self.store), found: OnceLock::new() };
        (Arc::new(joined), transaction)
    }

    /// Whether the calls run within a transaction of the caller.
    pub(crate) fn is_joined(&self) -> bool {
        matches!(self.connections, Connections::Joined(_))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.store.settings
    }

    /// Returns the `OnceLock` that all clients of the store share for a namespace.
    fn place_of(&self, kind: Kind, name: &Namespace, options: &str) -> Arc<OnceLock<Opened>> {
        let place = self.store.namespaces.open(kind.name(), name, options.to_owned(), || Ok(OnceLock::new()));
        place.unwrap_or_default()
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.store.settings.schema
    }

    /// Returns the memory of the store in microseconds; `None` before the first call, or if the store remembers for
    /// ever.
    pub(crate) fn memory(&self) -> Option<i64> {
        self.info().and_then(|info| micros_of(info.memory))
    }

    /// Returns the epoch of the store; `None` before the first call.
    pub(crate) fn epoch(&self) -> Option<i64> {
        self.info().map(|info| info.epoch)
    }

    fn info(&self) -> Option<&StoreInfo> {
        self.store.info.get().or_else(|| self.found.get())
    }

    /// Checks that `found` has this client's `remember` setting, and the epoch that the first call found.
    pub(crate) fn check_store(&self, found: StoreInfo) -> Result<()> {
        found.check(self.settings().options.remember)?;
        let place = if self.is_joined() { &self.found } else { &self.store.info };
        let known = self.info().unwrap_or_else(|| place.get_or_init(|| found));
        match known.epoch == found.epoch {
            true => Ok(()),
            false => Err(error::of_another_epoch(self.schema())),
        }
    }

    /// Sends the call once, without retries. Returns the rows of its answer.
    pub(crate) fn rows<'a>(&'a self, call: &'a FunctionCall<'_>) -> Rows<'a> {
        Box::pin(async move {
            match self.connections.rows(Ask::Call(call, &self.store.settings, &self.store.statements)).await {
                Err(error) if error.kind() == ErrorKind::NotSetUp && !self.is_joined() => {
                    Err(Box::pin(self.explained(error)).await)
                }
                rows => rows,
            }
        })
    }

    /// Sends the call once, without retries. Returns the first row of its answer.
    pub(crate) async fn row(&self, call: &FunctionCall<'_>) -> Result<PgRow> {
        let rows = self.rows(call).await?;
        rows.into_iter().next().ok_or_else(|| error::unreadable(call.function()))
    }

    /// Returns the only row of `sql`, which only reads and calls no function of the schema.
    pub(crate) async fn query(&self, operation: &'static str, sql: &str) -> Result<PgRow> {
        let sql = &call::in_session(self.settings(), sql);
        let attempt = || async move {
            let rows = self.connections.rows(Ask::Text(sql)).await?;
            rows.into_iter().next().ok_or_else(|| error::unreadable("the check of the schema"))
        };
        self.settle(operation, attempt).await
    }

    pub(crate) async fn dedicated(&self) -> Result<Dedicated<'_>> {
        self.in_time(self.connections.dedicated()).await
    }

    pub(crate) fn close(&self) {
        self.connections.close();
    }

    pub(crate) fn deadline(&self) -> Instant {
        now() + self.settings().options.call_timeout
    }

    /// Returns a function that returns the time since a call with this deadline began.
    pub(crate) fn since_begin(&self, deadline: Instant) -> impl Fn() -> Duration + use<> {
        let limit = self.settings().options.call_timeout;
        move || limit.saturating_sub(deadline.saturating_duration_since(now()))
    }

    /// Makes a call within the call timeout, with attempts by the rules of [`repeated`](Self::repeated).
    pub(crate) async fn settle<T, F>(&self, operation: &'static str, mut attempt: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let call = self.repeated(self.deadline(), AfterLostReply::Retry, |_| attempt());
        self.in_time(call).await.map_err(|error| error.on("postgres").during(operation))
    }

    /// Like [`settle`](Self::settle), for a call that the store can refuse. The argument of `attempt` says whether an
    /// earlier attempt was lost (ER-5).
    pub(crate) async fn settle_attempts<T, F>(
        &self,
        operation: &'static str,
        first: Attempt,
        mut attempt: impl FnMut(Attempt) -> F + Send,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let after_lost = AfterLostReply::after_batch(first.is_repeated());
        let attempt = |is_any_lost| attempt(first.after_lost(is_any_lost));
        let call = self.repeated(self.deadline(), after_lost, attempt);
        self.in_time(call).await.map_err(|error| error.on("postgres").during(operation))
    }

    /// Repeats `attempt` after contention, with pauses, and once after a lost reply. The argument of `attempt` says
    /// whether an earlier attempt was lost. The caller must set a timeout.
    pub(crate) async fn repeated<T, F>(
        &self,
        deadline: Instant,
        after_lost: AfterLostReply,
        mut attempt: impl FnMut(bool) -> F + Send,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let is_any_lost = after_lost == AfterLostReply::RetryAgain;
        if self.is_joined() {
            // An error ends the transaction, so no further attempt can succeed (J-2).
            return attempt(is_any_lost).await;
        }
        repeat(is_any_lost, CallBackoff::new(deadline, after_lost, pauses()), wait, attempt).await
    }

    /// Ends `work` at the call timeout, unless the client is joined.
    pub(crate) fn in_time<'a, T: 'a>(
        &'a self,
        work: impl Future<Output = Result<T>> + Send + 'a,
    ) -> impl Future<Output = Result<T>> + Send + 'a {
        // Boxed like `Rows`, and before anything moves the future: each move would copy all of the call.
        let work: Work<'a, T> = Box::pin(work);
        let timeout = self.settings().options.call_timeout;
        let is_joined = self.is_joined();
        async move {
            match is_joined {
                // The server bounds each statement. A call that is dropped makes the transaction unusable (J-2).
                true => work.await,
                false => progress::scope(ending(timeout, work)).await,
            }
        }
    }
}

/// Runs `work` until the timeout. After the timeout, the outcome is unknown only if the call was sent.
async fn ending<T>(timeout: Duration, work: Work<'_, T>) -> Result<T> {
    let ended = in_time(timeout, work).await;
    ended.unwrap_or_else(|| Err(if progress::end() { error::unmade(timeout) } else { unanswered(timeout) }))
}

fn unanswered(timeout: Duration) -> Error {
    Error::unknown(format!("there was no answer within {timeout:?}")).on("postgres")
}

/// Retries a call after contention until the deadline, and once after a lost reply.
struct CallBackoff<P> {
    reconnects: usize,
    pauses: P,
    deadline: Instant,
    begun: Instant,
}

impl<P: Iterator<Item = Duration> + Send> CallBackoff<P> {
    fn new(deadline: Instant, after_lost: AfterLostReply, pauses: P) -> Self {
        let reconnects = usize::from(after_lost != AfterLostReply::Fail);
        Self { reconnects, pauses, deadline, begun: now() }
    }

    /// Returns the next pause, or `None` if another attempt of the same length would not end before the deadline.
    fn pause(&mut self) -> Option<Duration> {
        let (pause, ended) = (self.pauses.next()?, now());
        let lasted = ended.saturating_duration_since(self.begun);
        self.begun = ended + pause;
        (self.begun + lasted < self.deadline).then_some(pause)
    }
}

impl<P: Iterator<Item = Duration> + Send> Backoff for CallBackoff<P> {
    fn after(&mut self, error: &Error) -> Option<Duration> {
        match (error.kind(), error.certainty()) {
            (ErrorKind::Contention, Certainty::NotApplied) => self.pause(),
            (ErrorKind::OutcomeUnknown, _) if self.reconnects > 0 => {
                (self.reconnects, self.begun) = (self.reconnects - 1, now());
                Some(Duration::ZERO)
            }
            _ => None,
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "how much is left of a call; no promise depends on it")]
fn now() -> Instant {
    Instant::now()
}

#[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
pub(crate) async fn wait(pause: Duration) {
    tokio::time::sleep(pause).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempt_that_would_outlast_the_call_is_not_made() {
        let minute = Duration::from_secs(60);
        let error = Error::new(ErrorKind::Contention, "another call holds the lock");
        let is_made_again = |lasted| {
            let mut backoff = CallBackoff::new(now() + minute, AfterLostReply::Retry, pauses());
            backoff.begun -= lasted;
            backoff.after(&error).is_some()
        };
        assert!(is_made_again(minute / 2) && !is_made_again(minute));
    }
}
