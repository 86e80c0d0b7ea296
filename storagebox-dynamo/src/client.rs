//! The client: single requests, and what is tried again.

mod connection;
mod credentials;
mod http;
mod look;
mod namespaces;
mod regions;
mod requests;
mod transaction;
mod write;

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use storagebox_core::backend::rules::StoredTime;
use storagebox_core::backend::{Backoff, Setback, Settled, repeat};
use storagebox_core::{Certainty, Error, ErrorKind, Result, Retention, Settles};

use tokio::time::Instant;

use crate::clock::{Corrected, Millis, millis};
use crate::config::Settings;
use crate::error::lacks_credentials;

pub(crate) use connection::Connection;
pub(crate) use http::NoAuthorities;
pub(crate) use look::{Index, Look};
pub(crate) use namespaces::{Kind, OpenNamespace, named, prefix_of, row_of_namespace, shard_of, within};
pub(crate) use regions::home_elsewhere;
pub(crate) use requests::{Answers, Wrote};
pub(crate) use transaction::{Refusal, Transacted};
pub(crate) use write::{Tag, Write, hex};

/// Requests to one table.
#[derive(Debug)]
pub(crate) struct Client {
    connection: Connection,
    settings: Settings,
    clock: Corrected,
}

/// The times by which a row is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// What lapsed up to here has lapsed by every clock.
    pub(crate) past: Millis,
    /// What lasts beyond here lasts by every clock.
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

    /// What lapsed up to here has lapsed by every clock that is within `max_skew`.
    pub(crate) fn surely_past(&self) -> Millis {
        self.now().before(self.settings.max_skew)
    }

    /// What lasts beyond here lasts by every clock that is within `max_skew`.
    pub(crate) fn surely_coming(&self) -> Millis {
        self.now().after(self.settings.max_skew)
    }

    /// Both at once, taken before a row is read: what has ended since was there when the call began.
    pub(crate) fn moment(&self) -> Moment {
        Moment { past: self.surely_past(), coming: self.surely_coming() }
    }

    /// How long a call is under way that begins now: as its timers say, or as the clock does by which everything is judged,
    /// whichever is longer. Timers may stand still while the machine sleeps.
    #[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
    pub(crate) fn since_now(&self) -> impl Fn() -> Duration + Send + Sync + '_ {
        let (begun, at) = (Instant::now(), self.clock.machine());
        move || begun.elapsed().max(at.until(self.clock.machine()))
    }

    /// The end of something that lasts this long for whoever holds it.
    pub(crate) fn end_of(&self, duration: Duration) -> Millis {
        self.clock.end_of(duration).after(self.settings.max_skew)
    }

    /// A number greater than every one before it on a row: the last one's successor, and at least the time in
    /// microseconds. So none repeats after the row is gone, because a row is kept until its last number is behind by
    /// every clock.
    pub(crate) fn number_after(&self, last: u64) -> u64 {
        let micros = self.now().0.max(0).unsigned_abs().saturating_mul(1_000);
        last.saturating_add(1).max(micros)
    }

    /// For the table's time to live, in whole seconds: nothing goes before the time is past by every clock.
    pub(crate) fn deletable(&self, forgotten: Millis) -> i64 {
        forgotten.after(self.settings.max_skew).after(self.settings.max_skew).0.div_euclid(1_000) + 1
    }

    /// Makes a call: attempts in which the same ids and the same tag go out again, until one is answered, for as long
    /// as its errors allow. No outcome that leaves a lost attempt open is answered.
    pub(crate) async fn settle<T, F>(&self, operation: &'static str, attempt: impl FnMut() -> F + Send) -> Result<T>
    where
        T: Settles,
        F: Future<Output = Result<T>> + Send,
    {
        let timeout = self.settings.options.call_timeout;
        let (begun, end) = lasting(timeout);
        let backoff = CallBackoff { time: Some((begun, end)), ..CallBackoff::default() };
        let answer = tokio::time::timeout_at(end, END.scope(end, repeat(backoff, wait, attempt)))
            .await
            .unwrap_or_else(|_| Err(Error::unknown(format!("there was no answer within {timeout:?}"))));
        answer.map_err(|error| error.on("dynamo").during(operation))
    }

    /// Makes a call whose answer always settles an earlier attempt: a read, or a write that names a state.
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
        self.settle(operation, attempt).await.map(|Settled(answer)| answer)
    }

    /// Deletes a row for good, and tells whether it did: also if the answer was lost and there is no row any more.
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
        self.settled(operation, attempt).await
    }
}

tokio::task_local! {
    /// When the call that is under way must be answered.
    static END: Instant;
}

/// When a call begins, and when it must be answered: in its own time, and in that of the call that it is a part of.
#[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
fn lasting(timeout: Duration) -> (Instant, Instant) {
    let now = Instant::now();
    let end = now + timeout;
    (now, END.try_get().map_or(end, |of_call| of_call.min(end)))
}

/// How often a call is tried again, by what stood in its way, and for how long.
#[derive(Debug, Default)]
struct CallBackoff {
    conflicts: u32,
    failures: u32,
    looks: u32,
    /// The beginning of the attempt that is under way, and the end of the call, if that is ours to know.
    time: Option<(Instant, Instant)>,
}

/// The first and the longest pause after a conflict, and how many there are.
const CONFLICTS: (u64, u64, u32) = (2, 200, 60);
/// The same after a throttle, a lost answer or a failed read.
const FAILURES: (u64, u64, u32) = (10, 1_600, 12);
/// The same while a lost attempt may still land: most do soon, and then the call has its answer after all.
const LOOKS: (u64, u64, u32) = (10, 80, 4);

impl CallBackoff {
    /// Of a part of the call that is under way.
    #[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
    fn of_call() -> Self {
        let time = END.try_get().ok().map(|end| (Instant::now(), end));
        Self { time, ..Self::default() }
    }

    fn pause(&mut self, setback: Setback<'_>) -> Option<Duration> {
        let Setback::Failed(error) = setback else {
            return next(&mut self.looks, LOOKS);
        };
        match error.kind() {
            _ if !error.is_retryable() || error.source().is_some_and(lacks_credentials) => None,
            ErrorKind::Contention => next(&mut self.conflicts, CONFLICTS),
            ErrorKind::Throttled | ErrorKind::Unavailable | ErrorKind::OutcomeUnknown => {
                next(&mut self.failures, FAILURES)
            }
            _ => None,
        }
    }

    /// Whether another attempt may be over before the call is, if it lasts as long as this one. Cut off, it would
    /// leave in doubt what is certain by now.
    #[allow(clippy::disallowed_methods, reason = "how long the client makes attempts")]
    fn has_time_for(&mut self, pause: Duration, is_certain: bool) -> bool {
        let Some((begun, end)) = &mut self.time else { return true };
        let now = Instant::now();
        let lasts = if is_certain { now.duration_since(*begun) } else { Duration::ZERO };
        *begun = now + pause;
        *begun + lasts < *end
    }
}

impl Backoff for CallBackoff {
    fn after(&mut self, setback: Setback<'_>) -> Option<Duration> {
        let is_certain = matches!(setback, Setback::Failed(error) if error.certainty() == Certainty::NotApplied);
        let pause = self.pause(setback)?;
        self.has_time_for(pause, is_certain).then_some(pause)
    }
}

/// Full jitter: callers that met once do not meet again.
#[allow(clippy::disallowed_methods, reason = "jitter is chance; no promise depends on it")]
fn next(made: &mut u32, (first, longest, most): (u64, u64, u32)) -> Option<Duration> {
    if *made == most {
        return None;
    }
    let ceiling = first.saturating_mul(1 << (*made).min(20)).min(longest);
    *made += 1;
    Some(Duration::from_micros(fastrand::u64(500..=ceiling * 1_000)))
}

#[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
pub(crate) async fn wait(pause: Duration) {
    tokio::time::sleep(pause).await;
}

/// The end of a retention that begins now, if it has one.
pub(crate) fn expiry(client: &Client, retention: Retention) -> Option<i64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(client.clock.end_of(duration).0),
    }
}

pub(crate) fn millis_of(retention: Retention) -> Option<i64> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(millis(duration)),
    }
}
