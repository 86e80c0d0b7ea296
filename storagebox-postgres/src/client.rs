//! The client: one statement a call, and what is tried again.

mod call;
mod connections;
mod connector;
mod gate;
mod known;
mod look;
mod namespaces;
mod progress;
mod texts;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::postgres::PgRow;
use storagebox_core::backend::micros_of;
use storagebox_core::backend::{Backoff, Setback, Settled, in_time, pauses, repeat};
use storagebox_core::{Certainty, Error, ErrorKind, Result, Settles};
use tokio::time::Instant;

use crate::config::{Schema, Settings};
use crate::error;

pub(crate) use call::{Call, Opened, SESSION};
use connections::Ask;
pub(crate) use connections::{Connections, Dedicated};
pub(crate) use known::{FORMAT, Found, Known, VERSION, new_epoch};
pub(crate) use look::{text_of_look, with_tables};
pub(crate) use namespaces::{Kind, OpenNamespace, hash};
pub(crate) use progress::Progress;
use texts::Texts;

/// Rows to come. Boxed, so that the futures of the calls above stay small.
type Rows<'a> = Pin<Box<dyn Future<Output = Result<Vec<PgRow>>> + Send + 'a>>;

type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What every namespace of a store works with.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    settings: Settings,
    texts: Texts,
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
        Arc::new(Self { connections, settings, texts: Texts::default(), known: OnceLock::new() })
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
        found.check(self.settings.options.remember)?;
        match self.known.get_or_init(|| found).epoch == found.epoch {
            true => Ok(()),
            false => Err(error::of_another_epoch(self.schema())),
        }
    }

    /// One statement, sent once: its rows.
    pub(crate) fn rows<'a>(&'a self, call: &'a Call<'_>) -> Rows<'a> {
        Box::pin(async move {
            match self.connections.rows(Ask::Call(call, &self.settings, &self.texts)).await {
                Err(error) if error.kind() == ErrorKind::NotSetUp => Err(Box::pin(self.explained(error)).await),
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
        let sql = &call::in_session(&self.settings, sql);
        let attempt = || async move {
            let rows = self.connections.rows(Ask::Text(sql)).await?;
            rows.into_iter().next().ok_or_else(|| error::unreadable("a look at the schema"))
        };
        self.settled(operation, attempt).await
    }

    /// A connection for more than one statement.
    pub(crate) async fn dedicated(&self) -> Result<Dedicated<'_>> {
        self.in_time(self.connections.dedicated()).await
    }

    pub(crate) fn close(&self) {
        self.connections.close();
    }

    /// When a call that begins now has to be over.
    pub(crate) fn deadline(&self) -> Instant {
        now() + self.settings.options.call_timeout
    }

    /// For how long a call has been under way that has to be over then.
    pub(crate) fn since_begin(&self, deadline: Instant) -> impl Fn() -> Duration + use<> {
        let limit = self.settings.options.call_timeout;
        move || limit.saturating_sub(deadline.saturating_duration_since(now()))
    }

    /// Makes a call that begins now, [again and again](Self::repeated) until it is answered, in time.
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
        let call = self.repeated(self.deadline(), before, attempt);
        self.in_time(call).await.map_err(|error| error.on("postgres").during(operation))
    }

    /// Makes a call until it is answered: again while others are in the way, and once more after the connection broke.
    /// What an earlier attempt may still do is told from the answer (contract, idea 3). Bounded only by its caller.
    pub(crate) async fn repeated<T, F>(
        &self,
        deadline: Instant,
        before: Before,
        attempt: impl FnMut() -> F + Send,
    ) -> Result<T>
    where
        T: Settles,
        F: Future<Output = Result<T>> + Send,
    {
        repeat(Patience::new(deadline, before, pauses()), wait, attempt).await
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
        self.settle(operation, Before::Nothing, attempt).await.map(|Settled(answer)| answer)
    }

    /// A call that has to be over in time. Where it makes part of another call, it is told as that one's.
    pub(crate) fn in_time<'a, T: 'a>(
        &'a self,
        work: impl Future<Output = Result<T>> + Send + 'a,
    ) -> impl Future<Output = Result<T>> + Send + 'a {
        // Boxed like the rows, and before anything moves it: each move would copy all of the call.
        let work: Work<'a, T> = Box::pin(work);
        let timeout = self.settings.options.call_timeout;
        async move { progress::scope(ending(timeout, work)).await }
    }
}

/// What became of a call whose time is over depends on whether it has left.
async fn ending<T>(timeout: Duration, work: Work<'_, T>) -> Result<T> {
    let ended = in_time(timeout, work).await;
    ended.unwrap_or_else(|| Err(if progress::end() { error::unmade(timeout) } else { unanswered(timeout) }))
}

fn unanswered(timeout: Duration) -> Error {
    Error::unknown(format!("there was no answer within {timeout:?}")).on("postgres")
}

/// Others in the way are waited for while there is time; a lost answer is asked for once more.
struct Patience<P> {
    before: Before,
    reconnects: usize,
    pauses: P,
    deadline: Instant,
    begun: Instant,
}

impl<P: Iterator<Item = Duration> + Send> Patience<P> {
    fn new(deadline: Instant, before: Before, pauses: P) -> Self {
        let reconnects = usize::from(before != Before::NoSecond);
        Self { before, reconnects, pauses, deadline, begun: now() }
    }

    /// The next pause, if one more attempt that lasts as long as the last one ends in time. One that does not would
    /// make an uncertain answer of a certain one.
    fn pause(&mut self) -> Option<Duration> {
        let (pause, ended) = (self.pauses.next()?, now());
        let lasted = ended.saturating_duration_since(self.begun);
        self.begun = ended + pause;
        (self.begun + lasted < self.deadline).then_some(pause)
    }
}

impl<P: Iterator<Item = Duration> + Send> Backoff for Patience<P> {
    fn after(&mut self, setback: Setback<'_>) -> Option<Duration> {
        let Setback::Failed(error) = setback else {
            return None;
        };
        match (error.kind(), error.certainty()) {
            (ErrorKind::Contention, Certainty::NotApplied) => self.pause(),
            (ErrorKind::OutcomeUnknown, _) if self.reconnects > 0 => {
                (self.reconnects, self.begun) = (self.reconnects - 1, now());
                Some(Duration::ZERO)
            }
            _ => None,
        }
    }

    fn begins_unresolved(&self) -> bool {
        self.before == Before::Lost
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
    fn no_attempt_is_made_that_would_outlast_the_call() {
        let minute = Duration::from_secs(60);
        let error = Error::new(ErrorKind::Contention, "others are in the way");
        let is_made_again = |lasted| {
            let mut patience = Patience::new(now() + minute, Before::Nothing, pauses());
            patience.begun -= lasted;
            patience.after(Setback::Failed(&error)).is_some()
        };
        assert!(is_made_again(minute / 2) && !is_made_again(minute));
    }
}
