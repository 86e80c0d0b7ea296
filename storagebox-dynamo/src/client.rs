//! The client: single requests, and the attempts of a call.

mod backoff;
mod connection;
mod credentials;
mod http;
mod namespaces;
mod query;
mod regions;
mod requests;
mod tag;
mod transaction;
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::backend::repeat;
use storagebox_core::backend::rules::StoredTime;
use storagebox_core::{Attempt, Certainty, Error, Result, Retention};
use tokio::time::Instant;

use crate::clock::{Corrected, Millis, millis};
use crate::config::Settings;
use crate::row::Expiry;

use backoff::{CallBackoff, END, begin_and_end};

pub(crate) use backoff::wait;
pub(crate) use connection::Connection;
pub(crate) use http::NoAuthorities;
pub(crate) use namespaces::{Kind, OpenNamespace, Partition, prefix_of};
pub(crate) use query::{Index, Query};
pub(crate) use regions::home_elsewhere;
pub(crate) use requests::RowPage;
pub(crate) use tag::{Tag, hex};
pub(crate) use transaction::{Refusal, Transacted};
pub(crate) use write::{Write, Wrote};

/// The largest number of values that one call changes at the same time.
const AT_ONCE: usize = 64;

#[derive(Debug)]
pub(crate) struct Client {
    connection: Connection,
    settings: Settings,
    clock: Corrected,
}

/// The two times with which an expiry in a row is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The latest time that has passed on every clock, if clocks differ by at most `max_skew`.
    pub(crate) past: Millis,
    /// The latest time that any clock may show now, if clocks differ by at most `max_skew`.
    pub(crate) coming: Millis,
}

impl Client {
    pub(crate) fn new(connection: Connection, settings: Settings) -> Arc<Self> {
        let clock = Corrected::new(settings.clock(), settings.max_skew);
        Arc::new(Self { connection, settings, clock })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn table(&self) -> &str {
        &self.settings.table
    }

    pub(crate) fn region(&self) -> Option<&str> {
        self.connection.region()
    }

    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Returns the latest time that has passed on every clock, if clocks differ by at most `max_skew`.
    pub(crate) fn surely_past(&self) -> Millis {
        self.now().before(self.settings.max_skew)
    }

    /// Returns the latest time that any clock may show now, if clocks differ by at most `max_skew`.
    pub(crate) fn surely_coming(&self) -> Millis {
        self.now().after(self.settings.max_skew)
    }

    /// Returns the times with which an expiry is compared. Must be called before the row is read.
    pub(crate) fn moment(&self) -> Moment {
        // A hold that is extended during the read must not count as ended.
        Moment { past: self.surely_past(), coming: self.surely_coming() }
    }

    /// Returns a function that measures the time since this call, even if the machine sleeps.
    #[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
    pub(crate) fn since_now(&self) -> impl Fn() -> Duration + Send + Sync + '_ {
        let (begun, at) = (Instant::now(), self.clock.machine());
        // The timer may stop while the machine sleeps.
        move || begun.elapsed().max(at.until(self.clock.machine()))
    }

    /// Returns the stored end of a hold or lease that begins now and has this duration.
    pub(crate) fn end_of(&self, duration: Duration) -> Millis {
        // The holder treats the hold or lease as ended `max_skew` before the stored end.
        self.clock.end_of(duration).after(self.settings.max_skew)
    }

    pub(crate) fn end_of_retention(&self, retention: Retention) -> Option<Millis> {
        match retention {
            Retention::Forever => None,
            Retention::For(duration) => Some(self.clock.end_of(duration)),
        }
    }

    /// Returns a number that is greater than `last` and at least the present time in microseconds.
    pub(crate) fn number_after(&self, last: u64) -> u64 {
        // A row is deleted only when its last number is in the past on every clock, so no number repeats.
        let micros = self.now().0.max(0).unsigned_abs().saturating_mul(1_000);
        last.saturating_add(1).max(micros)
    }

    /// Returns the expiry of a row that the store must keep until `at`.
    pub(crate) fn expiry(&self, at: Millis) -> Expiry {
        // The table's time to live, in whole seconds, ends after `at` has passed on every clock.
        let latest = at.after(self.settings.max_skew).after(self.settings.max_skew);
        Expiry { at, seconds: latest.0.div_euclid(1_000) + 1 }
    }

    /// Makes a call. Repeats the attempt after a retryable error, until `call_timeout` is over.
    pub(crate) async fn settle<T, F>(&self, operation: &'static str, mut attempt: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        self.repeated(operation, false, |_| attempt()).await
    }

    /// Makes a call with retries. Tells each attempt whether an earlier attempt was lost (ER-5).
    pub(crate) async fn settle_attempts<T, F>(
        &self,
        operation: &'static str,
        first: Attempt,
        mut attempt: impl FnMut(Attempt) -> F + Send,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        self.repeated(operation, first.is_repeated(), |is_any_lost| attempt(first.after_lost(is_any_lost))).await
    }

    async fn repeated<T, F>(
        &self,
        operation: &'static str,
        is_any_lost: bool,
        attempt: impl FnMut(bool) -> F + Send,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let timeout = self.settings.options.call_timeout;
        let (begun, end) = begin_and_end(timeout);
        let attempts = repeat(is_any_lost, CallBackoff::of_call(begun, end), wait, attempt);
        let answer = tokio::time::timeout_at(end, END.scope(end, attempts))
            .await
            .unwrap_or_else(|_| Err(Error::unknown(format!("there was no answer within {timeout:?}"))));
        answer.map_err(|error| error.on("dynamo").during(operation))
    }

    /// Makes one call per distinct value, several calls at the same time. If a call fails, other calls may have changed
    /// their values.
    pub(crate) async fn for_each<V, T, F>(
        &self,
        operation: &'static str,
        values: &[V],
        change: impl Fn(V, Tag) -> F + Sync,
    ) -> Result<Vec<T>>
    where
        V: Clone + Ord + Send + Sync,
        T: Send,
        F: Future<Output = Result<T>> + Send,
    {
        let distinct: BTreeSet<_> = values.iter().cloned().collect();
        let is_alone = distinct.len() == 1;
        let calls = stream::iter(distinct).map(|value| {
            let (tag, change) = (Tag::fresh(), &change);
            async move { self.settle(operation, || change(value.clone(), tag.clone())).await }
        });
        let outcomes = calls.buffer_unordered(AT_ONCE).try_collect().await;
        outcomes.map_err(|error: Error| if is_alone { error } else { error.after_unresolved() })
    }

    /// Deletes a row. Returns `true` if this call deleted the row, or if a reply was lost and the row is gone.
    pub(crate) async fn deleted(&self, operation: &'static str, delete: &Write) -> Result<bool> {
        let was_lost = &AtomicBool::new(false);
        let attempt = || async move {
            match self.write(delete).await {
                Ok(Wrote::Done(_)) => Ok(true),
                Ok(Wrote::Refused(row)) => Ok(row.is_none() && was_lost.load(Relaxed)),
                Err(error) => {
                    was_lost.fetch_or(error.certainty() == Certainty::Unknown, Relaxed);
                    Err(error)
                }
            }
        };
        self.settle(operation, attempt).await
    }
}

pub(crate) fn millis_of(retention: Retention) -> Option<i64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(millis(duration)),
    }
}
