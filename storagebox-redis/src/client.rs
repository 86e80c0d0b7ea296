//! The client: one script a call, and what is tried again.

mod answer;
mod call;
mod connections;
mod dial;
mod keys;
mod known;
mod line;
mod namespaces;
#[cfg(feature = "pool")]
mod pool;
#[cfg(feature = "sentinel")]
mod sentinels;
mod server;
mod slot;
#[cfg(test)]
mod whatever;

use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use storagebox_core::backend::{Backoff, Setback, Settled, in_time, pauses, repeat};
use storagebox_core::{Certainty, Error, ErrorKind, Result, Retention, Settles};

use crate::config::Settings;
use crate::error;

pub(crate) use answer::Answer;
pub(crate) use call::Call;
pub(crate) use connections::{Connections, Request};
pub(crate) use keys::hash;
pub(crate) use known::{Known, VERSION, in_words};
pub(crate) use namespaces::{Kind, OpenNamespace, kind_of};
pub(crate) use server::Server;
#[cfg(test)]
pub(crate) use whatever::whatever;

/// An answer to come. Boxed, so that the futures of the calls above stay small.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer>> + Send + 'a>>;

/// What every namespace of a store works with.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    settings: Settings,
    store: String,
    /// What the store is, from the first call on.
    known: OnceLock<Known>,
}

/// Whether a second attempt may be made after one was lost on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Second {
    /// It may: the call's own id tells what became of the first.
    May,
    /// It must not: it would be applied twice.
    MustNot,
}

impl Client {
    pub(crate) fn new(connections: Connections, settings: Settings) -> Arc<Self> {
        let store = settings.prefix.store();
        Arc::new(Self { connections, settings, store, known: OnceLock::new() })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The key of what belongs to no namespace.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    /// The same where a script about a namespace may look at it: on one node, not on a cluster.
    pub(crate) fn store_in_reach(&self) -> Option<&str> {
        Some(self.store()).filter(|_| !self.is_cluster())
    }

    /// Whether namespaces are spread over nodes, so that no script works on two of them.
    pub(crate) fn is_cluster(&self) -> bool {
        self.connections.is_cluster()
    }

    /// The store's memory of ended operations, as the scripts take it. Only asked once it is known.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.known.get().and_then(|known| micros_of(known.memory))
    }

    /// The epoch of the store; none before the first call.
    pub(crate) fn epoch(&self) -> &str {
        self.known.get().map_or("", |known| &known.epoch)
    }

    /// A call that is answered what the store is: one of our version, and still the one that was opened first.
    pub(crate) async fn enter(&self, operation: &'static str, call: &Call<'_>) -> Result<Answer> {
        let answer = self.settled(operation, || self.answer(call)).await?;
        self.know(&answer).map_err(|error| error.during(operation))?;
        Ok(answer)
    }

    fn know(&self, answer: &Answer) -> Result<()> {
        let found = Known::of(answer)?;
        found.check(self.settings.options.remember)?;
        let epoch = found.epoch.clone();
        match self.known.get_or_init(|| found).epoch == epoch {
            true => Ok(()),
            false => Err(error::of_another_epoch(&self.store)),
        }
    }

    /// One script, sent once: its answer.
    pub(crate) fn answer<'a>(&'a self, call: &'a Call<'_>) -> Answering<'a> {
        Box::pin(self.connections.answer(call, &self.settings))
    }

    /// What the server says of itself.
    pub(crate) async fn info(&self) -> Result<String> {
        self.connections.info().await
    }

    pub(crate) fn close(&self) {
        self.connections.close();
    }

    /// Makes a call until it is answered: again while others are in the way, and once more after the connection broke,
    /// or a few times where the driver itself has to find the way back. What an earlier attempt may still do is told
    /// from the answer (contract, idea 3).
    pub(crate) async fn settle<T, F>(
        &self,
        operation: &'static str,
        second: Second,
        attempt: impl FnMut() -> F + Send,
    ) -> Result<T>
    where
        T: Settles,
        F: Future<Output = Result<T>> + Send,
    {
        let repeats = if second == Second::May { self.connections.repeats() } else { 0 };
        // Pinned here, because each move would copy all of the call.
        let call = pin!(repeat(Patience { repeats, pauses: pauses() }, wait, attempt));
        self.in_time(call).await.map_err(|error| error.on("redis").during(operation))
    }

    /// [`settle`](Self::settle) for a call whose every answer settles: it only reads, or names a state that only moves
    /// on.
    pub(crate) async fn settled<T, F>(
        &self,
        operation: &'static str,
        mut attempt: impl FnMut() -> F + Send,
    ) -> Result<T>
    where
        T: Send,
        F: Future<Output = Result<T>> + Send,
    {
        let attempt = move || {
            let attempt = attempt();
            async move { attempt.await.map(Settled) }
        };
        self.settle(operation, Second::May, attempt).await.map(|Settled(answer)| answer)
    }

    /// A server that does not answer in time may be gone without a word: the next call connects anew.
    async fn in_time<T>(&self, work: Pin<&mut (impl Future<Output = Result<T>> + Send)>) -> Result<T> {
        let timeout = self.settings.options.call_timeout;
        in_time(timeout, work).await.unwrap_or_else(|| {
            self.connections.leave();
            Err(Error::unknown(format!("there was no answer within {timeout:?}")))
        })
    }
}

/// Others in the way are waited for; a lost answer is asked for again a few times.
struct Patience<P> {
    repeats: usize,
    pauses: P,
}

impl<P: Iterator<Item = Duration> + Send> Backoff for Patience<P> {
    fn after(&mut self, setback: Setback<'_>) -> Option<Duration> {
        let Setback::Failed(error) = setback else {
            return None;
        };
        match (error.kind(), error.certainty()) {
            (ErrorKind::Contention, Certainty::NotApplied) => self.pauses.next(),
            (ErrorKind::OutcomeUnknown, _) if self.repeats > 0 => {
                self.repeats -= 1;
                // At once the first time; a cluster's driver may not have found its way by then.
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

/// How long a call is under way that begins now.
#[allow(clippy::disallowed_methods, reason = "how long the client makes attempts; the store judges by its own clock")]
pub(crate) fn since_now() -> impl Fn() -> Duration + Send + Sync {
    let begun = tokio::time::Instant::now();
    move || begun.elapsed()
}

/// A duration as the scripts take it.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A retention as the scripts take it: nothing is for ever.
pub(crate) fn micros_of(retention: Retention) -> Option<u64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(micros(duration)),
    }
}
