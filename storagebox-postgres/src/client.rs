//! The client: one statement a call, and what is tried again.

mod boxes;
mod call;
mod connections;
mod progress;

use std::iter;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection};
use storagebox_core::backend::micros_of;
use storagebox_core::{Certainty, Error, ErrorKind, Result, Settles};
use tokio::time::Instant;

use crate::config::Settings;
use crate::error;
use crate::schema::{self, Known, Schema};

pub(crate) use boxes::{Kind, OpenBox, Opened, hash};
pub(crate) use call::Call;
pub(crate) use connections::Connections;
pub(crate) use progress::Progress;

/// The first and the longest pause before a call that met others is made again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));

/// Rows to come. Boxed, so that the futures of the calls above stay small.
type Rows<'a> = Pin<Box<dyn Future<Output = Result<Vec<PgRow>>> + Send + 'a>>;

type Ending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What every box of a store works with.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    settings: Settings,
    /// What the store is, from the first call on.
    known: OnceLock<Known>,
}

/// What became of a call before its first attempt here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// There was none.
    Nothing,
    /// One was lost on the way, so a second one has been made.
    Lost,
    /// There was none, and there must be no second one after a lost one: it would be applied twice.
    NoSecond,
}

impl Before {
    pub(crate) fn lost(lost: bool) -> Self {
        if lost { Self::Lost } else { Self::Nothing }
    }
}

impl Client {
    pub(crate) fn new(connections: Connections, settings: Settings) -> Arc<Self> {
        Arc::new(Self { connections, settings, known: OnceLock::new() })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.settings.schema
    }

    /// The store's memory of ended operations, as the functions take it. Only asked once it is known.
    pub(crate) fn memory(&self) -> Option<i64> {
        self.known.get().and_then(|known| micros_of(known.memory))
    }

    /// The epoch of the store; none before the first call.
    pub(crate) fn epoch(&self) -> Option<i64> {
        self.known.get().map(|known| known.epoch)
    }

    /// What the store is: what was asked for, and still the one that was opened first.
    pub(crate) fn know(&self, found: Known) -> Result<()> {
        found.check(self.settings.memory)?;
        match self.known.get_or_init(|| found).epoch == found.epoch {
            true => Ok(()),
            false => Err(error::of_another_epoch(self.schema())),
        }
    }

    /// One statement, sent once: its rows.
    pub(crate) fn rows<'a>(&'a self, call: &'a Call<'_>) -> Rows<'a> {
        Box::pin(async move {
            match self.connections.fetch(call, &self.settings).await {
                Err(error) if error.kind() == ErrorKind::NotSetUp => {
                    Err(schema::explained(self, error).await)
                }
                rows => rows,
            }
        })
    }

    /// The only row of one statement, sent once.
    pub(crate) async fn row(&self, call: &Call<'_>) -> Result<PgRow> {
        let rows = self.rows(call).await?;
        rows.into_iter().next().ok_or_else(|| error::unreadable(call.function()))
    }

    /// The only row of one statement that is no call of ours and only reads.
    pub(crate) async fn look(&self, operation: &'static str, sql: &str) -> Result<PgRow> {
        let attempt = || async move {
            let rows = self.connections.simple(AssertSqlSafe(sql.to_owned())).await?;
            rows.into_iter().next().ok_or_else(|| error::unreadable("a look at the schema"))
        };
        self.settled(operation, attempt).await
    }

    /// A connection that is in no pool.
    pub(crate) async fn dedicated(&self) -> Result<PgConnection> {
        self.in_time(self.connections.dedicated()).await
    }

    pub(crate) fn close(&self) {
        self.connections.close();
    }

    /// When a call that begins now has to be over.
    pub(crate) fn deadline(&self) -> Instant {
        now() + self.settings.call_timeout
    }

    /// [`settle_by`](Self::settle_by) for a call that begins now.
    pub(crate) async fn settle<T, F>(
        &self,
        operation: &'static str,
        before: Before,
        attempt: impl FnMut() -> F + Send,
    ) -> Result<T>
    where
        T: Settles,
        F: Future<Output = Result<T>> + Send,
    {
        self.settle_by(self.deadline(), operation, before, attempt).await
    }

    /// Makes a call until it is answered: again while others are in the way, and once more after the connection broke.
    /// What an earlier attempt may still do is told from the answer (contract, idea 3).
    pub(crate) async fn settle_by<T, F>(
        &self,
        deadline: Instant,
        operation: &'static str,
        before: Before,
        attempt: impl FnMut() -> F + Send,
    ) -> Result<T>
    where
        T: Settles,
        F: Future<Output = Result<T>> + Send,
    {
        self.in_time(attempts(deadline, before, attempt)).await.map_err(|error| error.during(operation))
    }

    /// [`settle`](Self::settle) for a call whose every answer settles: it only reads, or names a state that only moves on.
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
            async move { attempt.await.map(Seen) }
        };
        self.settle(operation, Before::Nothing, attempt).await.map(|Seen(answer)| answer)
    }

    /// A call that has to be over in time. Where it makes part of another call, it is told as that one's.
    pub(crate) async fn in_time<T>(&self, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        // Boxed like the rows, and for the same reason.
        let ending: Ending<'_, T> = Box::pin(ending(self.settings.call_timeout, work));
        if progress::is_known() { ending.await } else { Progress::default().scope(ending).await }
    }
}

/// What became of a call whose time is over depends on whether it has left.
async fn ending<T>(timeout: Duration, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    let ended = tokio::time::timeout(timeout, work).await;
    ended.unwrap_or_else(|_| Err(if progress::end() { error::unmade(timeout) } else { unanswered(timeout) }))
}

fn unanswered(timeout: Duration) -> Error {
    Error::unknown(format!("there was no answer within {timeout:?}")).on("postgres")
}

/// An answer that decides nothing about earlier attempts, because there is nothing to decide.
struct Seen<T>(T);

impl<T> Settles for Seen<T> {
    fn settles(&self) -> bool {
        true
    }
}

async fn attempts<T, F>(deadline: Instant, before: Before, mut attempt: impl FnMut() -> F + Send) -> Result<T>
where
    T: Settles,
    F: Future<Output = Result<T>> + Send,
{
    let (mut reconnects, mut unresolved) = (usize::from(before != Before::NoSecond), before == Before::Lost);
    let mut pauses = pauses();
    loop {
        let begun = now();
        let error = match attempt().await {
            Ok(answer) if unresolved && !answer.settles() => return Err(open()),
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        match (error.kind(), error.certainty()) {
            (ErrorKind::Contention, Certainty::NotApplied) => match pauses.next() {
                Some(pause) if has_room(deadline, pause + (now() - begun)) => wait(pause).await,
                _ => return Err(marked(error, unresolved)),
            },
            (ErrorKind::OutcomeUnknown, _) if reconnects > 0 => {
                reconnects -= 1;
                unresolved = true;
            }
            _ => return Err(marked(error, unresolved)),
        }
    }
}

/// Whether one more attempt, if it lasts as long as the last one, ends in time. One that does not would make an uncertain
/// answer of a certain one.
fn has_room(deadline: Instant, attempt: Duration) -> bool {
    attempt < deadline.saturating_duration_since(now())
}

#[allow(clippy::disallowed_methods, reason = "how much is left of a call; no promise depends on it")]
fn now() -> Instant {
    Instant::now()
}

fn marked(error: Error, unresolved: bool) -> Error {
    if unresolved { error.after_unresolved() } else { error }
}

fn open() -> Error {
    Error::unknown("the first attempt's answer was lost, and it may still take effect").on("postgres")
}

/// Longer and longer pauses, each with as much again by chance, about five seconds in all.
fn pauses() -> impl Iterator<Item = Duration> + Send {
    let mut random = fastrand::Rng::new();
    let (first, longest) = PAUSES;
    iter::successors(Some(first), move |pause| Some((*pause * 2).min(longest)))
        .map(move |pause| pause.mul_f64(0.5 + random.f64()))
        .take(50)
}

#[allow(clippy::disallowed_methods, reason = "the pause between two attempts; no promise depends on it")]
async fn wait(pause: Duration) {
    tokio::time::sleep(pause).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_attempt_is_made_that_would_outlast_the_call() {
        let last = Duration::from_secs(3_600);
        let mut made = 0;
        let attempt = || {
            made += 1;
            async { Err::<Seen<()>, _>(Error::new(ErrorKind::Contention, "others are in the way")) }
        };
        let deadline = Instant::now() + last;
        assert!(has_room(deadline, last / 2) && !has_room(deadline, last));
        let error = attempts(Instant::now(), Before::Nothing, attempt).await.err();
        assert!(error.is_some_and(|error| error.certainty() == Certainty::NotApplied));
        assert_eq!(made, 1);
    }
}
