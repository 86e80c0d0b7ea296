//! The client: it sends one script per call, and retries calls.

mod answer;
mod call;
mod connections;
mod dial;
#[cfg(test)]
mod fuzz;
mod keys;
mod line;
mod namespaces;
#[cfg(feature = "pool")]
mod pool;
#[cfg(feature = "sentinel")]
mod sentinels;
mod server;
mod slot;
mod store_info;

use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use storagebox_core::backend::{Backoff, in_time, pauses, repeat};
use storagebox_core::{Attempt, Certainty, Error, ErrorKind, Result, Retention};

use crate::config::Settings;
use crate::error;

pub(crate) use answer::Answer;
pub(crate) use call::ScriptCall;
pub(crate) use connections::{Connections, Request};
#[cfg(test)]
pub(crate) use fuzz::fuzz;
pub(crate) use keys::hash;
pub(crate) use namespaces::{Kind, OpenNamespace, kind_of};
pub(crate) use server::Server;
pub(crate) use store_info::{StoreInfo, VERSION, to_stored_text};

/// The future that sends a script and returns its answer.
// Boxed, to keep the futures of its callers small.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer>> + Send + 'a>>;

#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    settings: Settings,
    store: String,
    /// The version, epoch and memory of the store, known after the first call.
    info: OnceLock<StoreInfo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLostReply {
    /// Makes another attempt, because the server recognises the operation id.
    Retry,
    /// Returns the error, because another attempt could apply the change twice.
    Fail,
}

impl Client {
    pub(crate) fn new(connections: Connections, settings: Settings) -> Arc<Self> {
        let store = settings.prefix.store();
        Arc::new(Self { connections, settings, store, info: OnceLock::new() })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the key of the data that the store keeps outside its namespaces.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    /// Returns the key of the store's data outside its namespaces, or `None` on a cluster.
    pub(crate) fn store_in_reach(&self) -> Option<&str> {
        // On a cluster, a script on a namespace cannot read that key.
        Some(self.store()).filter(|_| !self.is_cluster())
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.connections.is_cluster()
    }

    /// Returns the store's memory in microseconds, or `None` if the memory is unlimited or not known yet.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.info.get().and_then(|info| micros_of(info.memory))
    }

    /// Returns the epoch of the store, or an empty text before the first call.
    pub(crate) fn epoch(&self) -> &str {
        self.info.get().map_or("", |info| &info.epoch)
    }

    /// Makes a call. Checks the store in the answer: its version, its memory, and that its epoch is the epoch of the
    /// first call.
    pub(crate) async fn enter(&self, operation: &'static str, call: &ScriptCall<'_>) -> Result<Answer> {
        let answer = self.settle(operation, || self.answer(call)).await?;
        self.check_store(&answer).map_err(|error| error.during(operation))?;
        Ok(answer)
    }

    fn check_store(&self, answer: &Answer) -> Result<()> {
        let found = StoreInfo::of(answer)?;
        found.check(self.settings.options.remember)?;
        let epoch = found.epoch.clone();
        match self.info.get_or_init(|| found).epoch == epoch {
            true => Ok(()),
            false => Err(error::of_another_epoch(&self.store)),
        }
    }

    /// Sends the script once, without a retry.
    pub(crate) fn answer<'a>(&'a self, call: &'a ScriptCall<'_>) -> Answering<'a> {
        Box::pin(self.connections.answer(call, &self.settings))
    }

    /// Sends the script until its answer is not `more`, and returns this answer.
    pub(crate) async fn answer_whole(&self, call: &ScriptCall<'_>) -> Result<Answer> {
        loop {
            let answer = self.answer(call).await?;
            if answer.word()? != "more" {
                return Ok(answer);
            }
        }
    }

    /// Sends a script that can refuse an attempt (ER-5), until its answer is not `more`. The last arguments of the
    /// script are the number of the call, and whether the attempt is repeated.
    pub(crate) async fn answer_attempt(&self, call: ScriptCall<'_>, attempt: Attempt) -> Result<Answer> {
        let answer = self.answer_whole(&call.with(attempt.call()).with(attempt.is_repeated())).await?;
        match answer.word()? {
            // An earlier attempt may still be applied.
            "open" => attempt.refused(answer),
            _ => Ok(answer),
        }
    }

    pub(crate) async fn server_info(&self) -> Result<String> {
        self.connections.info().await
    }

    pub(crate) fn close(&self) {
        self.connections.close();
    }

    /// Repeats a call after contention or a lost reply, within the call timeout.
    pub(crate) async fn settle<T, F>(&self, operation: &'static str, mut attempt: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        self.repeated(operation, false, AfterLostReply::Retry, |_| attempt()).await
    }

    /// Repeats a call, and tells each attempt whether the reply to an earlier attempt was lost (ER-5).
    pub(crate) async fn settle_attempts<T, F>(
        &self,
        operation: &'static str,
        first: Attempt,
        attempt: impl FnMut(Attempt) -> F + Send,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        self.settle_attempts_as(operation, first, AfterLostReply::Retry, attempt).await
    }

    /// Repeats a call. `after` says whether the call is retried after a lost reply.
    pub(crate) async fn settle_attempts_as<T, F>(
        &self,
        operation: &'static str,
        first: Attempt,
        after: AfterLostReply,
        mut attempt: impl FnMut(Attempt) -> F + Send,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        self.repeated(operation, first.is_repeated(), after, |is_any_lost| attempt(first.after_lost(is_any_lost))).await
    }

    async fn repeated<T, F>(
        &self,
        operation: &'static str,
        is_any_lost: bool,
        after: AfterLostReply,
        attempt: impl FnMut(bool) -> F + Send,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let repeats = if after == AfterLostReply::Retry { self.connections.repeats() } else { 0 };
        // Pinned here, because each move would copy all of the call.
        let call = pin!(repeat(is_any_lost, CallBackoff { repeats, pauses: pauses() }, wait, attempt));
        self.in_time(call).await.map_err(|error| error.on("redis").during(operation))
    }

    /// Limits the work to the call timeout.
    async fn in_time<T>(&self, work: Pin<&mut (impl Future<Output = Result<T>> + Send)>) -> Result<T> {
        let timeout = self.settings.options.call_timeout;
        in_time(timeout, work).await.unwrap_or_else(|| {
            // The server may be gone although the connection is still open, so the next call opens a new connection.
            self.connections.leave();
            Err(Error::unknown(format!("there was no answer within {timeout:?}")))
        })
    }
}

struct CallBackoff<P> {
    /// How often the call may still be repeated after a lost reply.
    repeats: usize,
    pauses: P,
}

impl<P: Iterator<Item = Duration> + Send> Backoff for CallBackoff<P> {
    fn after(&mut self, error: &Error) -> Option<Duration> {
        match (error.kind(), error.certainty()) {
            (ErrorKind::Contention, Certainty::NotApplied) => self.pauses.next(),
            (ErrorKind::OutcomeUnknown, _) if self.repeats > 0 => {
                self.repeats -= 1;
                // The first repeat follows at once. After that, a cluster's driver may still be looking for the new
                // master.
                Some(if self.repeats > 0 { self.pauses.next().unwrap_or_default() } else { Duration::ZERO })
            }
            _ => None,
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
pub(crate) async fn wait(pause: Duration) {
    tokio::time::sleep(pause).await;
}

#[allow(clippy::disallowed_methods, reason = "how long the client makes attempts; the store judges by its own clock")]
pub(crate) fn since_now() -> impl Fn() -> Duration + Send + Sync {
    let begun = tokio::time::Instant::now();
    move || begun.elapsed()
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Converts a retention to microseconds; `None` means for ever.
pub(crate) fn micros_of(retention: Retention) -> Option<u64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(micros(duration)),
    }
}
