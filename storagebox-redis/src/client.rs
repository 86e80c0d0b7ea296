//! The client: it sends one script per call, and retries calls.

mod answer;
mod call;
mod connections;
mod dial;
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
#[cfg(test)]
mod whatever;

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
pub(crate) use keys::hash;
pub(crate) use namespaces::{Kind, OpenNamespace, kind_of};
pub(crate) use server::Server;
pub(crate) use store_info::{StoreInfo, VERSION, to_stored_text};
#[cfg(test)]
pub(crate) use whatever::whatever;

/// The future of an answer. It is boxed to keep the futures of its callers small.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer>> + Send + 'a>>;

/// The connections and settings of a store, shared by its namespaces.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    settings: Settings,
    store: String,
    /// The description of the store that the first call found.
    info: OnceLock<StoreInfo>,
}

/// What to do after an attempt whose reply was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLostReply {
    /// Make another attempt: the server recognises the operation id.
    Retry,
    /// Return the error: the server would apply another attempt again.
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

    /// Returns the key of the data outside namespaces, or `None` on a cluster, where a namespace's script cannot read
    /// it.
    pub(crate) fn store_in_reach(&self) -> Option<&str> {
        Some(self.store()).filter(|_| !self.is_cluster())
    }

    /// Returns whether the server is a cluster. On a cluster, one script cannot use two namespaces.
    pub(crate) fn is_cluster(&self) -> bool {
        self.connections.is_cluster()
    }

    /// Returns for how long the store remembers ended operations, in microseconds; `None` before the first call.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.info.get().and_then(|info| micros_of(info.memory))
    }

    /// Returns the epoch of the store; an empty text before the first call.
    pub(crate) fn epoch(&self) -> &str {
        self.info.get().map_or("", |info| &info.epoch)
    }

    /// Makes a call whose answer describes the store. Returns an error if the store has another version, or if it is
    /// not the store that this client found first.
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

    /// Sends one script once.
    pub(crate) fn answer<'a>(&'a self, call: &'a ScriptCall<'_>) -> Answering<'a> {
        Box::pin(self.connections.answer(call, &self.settings))
    }

    /// Sends a script, and sends it again while it answers `more` because work remains.
    pub(crate) async fn answer_whole(&self, call: &ScriptCall<'_>) -> Result<Answer> {
        loop {
            let answer = self.answer(call).await?;
            if answer.word()? != "more" {
                return Ok(answer);
            }
        }
    }

    /// Sends a script that can refuse the attempt (ER-5), until it no longer answers `more`. Its last arguments are the
    /// number of the call, and whether the attempt is repeated. It answers `open` if an earlier attempt may still be
    /// applied.
    pub(crate) async fn answer_attempt(&self, call: ScriptCall<'_>, attempt: Attempt) -> Result<Answer> {
        let answer = self.answer_whole(&call.with(attempt.call()).with(attempt.is_repeated())).await?;
        match answer.word()? {
            "open" => attempt.refused(answer),
            _ => Ok(answer),
        }
    }

    /// Returns the server's `INFO`.
    pub(crate) async fn server_info(&self) -> Result<String> {
        self.connections.info().await
    }

    pub(crate) fn close(&self) {
        self.connections.close();
    }

    /// Repeats a call until an attempt is answered. After contention it pauses first. After a lost reply it makes one
    /// more attempt, or several on a cluster, whose driver has to find the new master.
    pub(crate) async fn settle<T, F>(&self, operation: &'static str, mut attempt: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        self.repeated(operation, false, AfterLostReply::Retry, |_| attempt()).await
    }

    /// Repeats a call that can be refused. Tells each attempt whether the reply to an earlier attempt was lost (ER-5).
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

    /// Repeats a call that can be refused. `after` says what to do after a lost reply.
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

    /// Limits a call to the call timeout. After a timeout the next call opens a new connection, because the server may
    /// be gone although the old connection is still open.
    async fn in_time<T>(&self, work: Pin<&mut (impl Future<Output = Result<T>> + Send)>) -> Result<T> {
        let timeout = self.settings.options.call_timeout;
        in_time(timeout, work).await.unwrap_or_else(|| {
            self.connections.leave();
            Err(Error::unknown(format!("there was no answer within {timeout:?}")))
        })
    }
}

/// The retries of one call: with pauses after contention, and at most `repeats` times after a lost reply.
struct CallBackoff<P> {
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

/// Returns a function that measures the time since now.
#[allow(clippy::disallowed_methods, reason = "how long the client makes attempts; the store judges by its own clock")]
pub(crate) fn since_now() -> impl Fn() -> Duration + Send + Sync {
    let begun = tokio::time::Instant::now();
    move || begun.elapsed()
}

/// Converts a duration to the microseconds that scripts take.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Converts a retention to the microseconds that scripts take; `None` means for ever.
pub(crate) fn micros_of(retention: Retention) -> Option<u64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(micros(duration)),
    }
}
