//! The lease of a run: beginning it, keeping it alive, and ending it with or without a result.

use std::any::Any;
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_channel::oneshot;
use tracing::warn;

use super::{Ran, RunOptions, result};
use crate::backend::race::{First, first_of, let_others_on};
use crate::contract::lease_repo::{Begun, Completed, Lease, LeaseExtended, LeaseRepo};
use crate::values::error::{Error, Result};
use crate::values::ids::{Ids, RandomIds};
use crate::values::time::{Retention, Timer, checked_duration};
use crate::values::value::{DedupId, OpId, Payload};

/// The longest wait between two checks of another runner's lease.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The shortest wait between two checks of another runner's lease. A store may report that a lease has no time left
/// before the store ends the lease.
const LOOK_SOON: Duration = Duration::from_millis(1);

pub(super) struct Runner<'a> {
    pub(super) repo: &'a dyn LeaseRepo,
    pub(super) timer: &'a dyn Timer,
    pub(super) options: &'a RunOptions,
}

impl Runner<'_> {
    /// Begins a lease, or waits for the lease of another runner. Returns the outcome, and the greatest possible age of
    /// the lease.
    pub(super) async fn begin(&self, id: &DedupId) -> Result<(Begun, Duration)> {
        self.options.retention.checked()?;
        checked_duration("lease", self.options.lease)?;
        let op = match &self.options.take_up {
            Some(runner) => runner.clone(),
            None => OpId::new(RandomIds.fresh())?,
        };
        let started = self.timer.now();
        loop {
            let asked = self.timer.now();
            let begun = self.begin_once(id, &op).await?;
            let Begun::InFlight { remaining } = begun else {
                return Ok((begun, self.age(asked)));
            };
            let waited = self.timer.now().saturating_sub(started);
            let left = self.options.wait.unwrap_or_default().saturating_sub(waited);
            if left.is_zero() {
                return Ok((begun, self.age(asked)));
            }
            self.timer.sleep(left.min(remaining.clamp(LOOK_SOON, LOOK_AGAIN))).await;
        }
    }

    async fn begin_once(&self, id: &DedupId, op: &OpId) -> Result<Begun> {
        let Self { repo, options, .. } = self;
        let fingerprint = options.fingerprint.as_ref();
        options.retry.call(self.timer, |_| repo.begin(id, op, options.lease, fingerprint)).await
    }

    /// Returns the greatest possible age of a lease that was requested at the time `asked`.
    fn age(&self, asked: Duration) -> Duration {
        match self.options.take_up {
            // A lease that is taken up may have any age.
            Some(_) => Duration::MAX,
            // An attempt whose answer was lost may have begun the lease.
            None => self.timer.now().saturating_sub(asked),
        }
    }

    /// Extends the lease at intervals, also after an error, and returns when the lease is lost.
    pub(super) async fn extend_until_lost(&self, lease: &Lease, age: Duration) {
        let duration = self.options.lease;
        let mut beat = (duration / 3).saturating_sub(age);
        loop {
            self.timer.sleep(beat).await;
            let_others_on().await;
            beat = match self.repo.extend(lease, duration).await {
                Ok(LeaseExtended::Extended) => duration / 3,
                Ok(LeaseExtended::Fenced) => return,
                Err(error) => {
                    // The id may be a secret of the caller, such as an idempotency key.
                    let id_bytes = lease.id.as_str().len();
                    warn!(id_bytes, fence = lease.fence.number(), %error, "a run's lease was not extended");
                    duration / 12
                }
            }
        }
    }

    /// Records the result, and keeps the lease alive in the meantime.
    pub(super) async fn record(
        &self,
        lease: &Lease,
        result: Bytes,
        alive: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Ran> {
        let result = result::recorded(result)?;
        // An extension also fails once the result is recorded, so its failure does not say that the lease was lost.
        let for_ever = async {
            alive.await;
            pending::<Infallible>().await
        };
        match first_of(self.complete(lease, &result), for_ever).await {
            First::Left(ran) => ran,
            First::Right(never) => match never {},
        }
    }

    async fn complete(&self, lease: &Lease, result: &Payload) -> Result<Ran> {
        let Self { repo, timer, options } = self;
        let begun = timer.now();
        let end = begun.saturating_add(options.record_within);
        let call = |is_any_lost| async move {
            let completed = repo.complete(lease, result, options.retention).await?;
            Ok((completed, is_any_lost))
        };
        let completed = options.retry.call_until(*timer, end, call).await;
        // The work was done, so no error may say that nothing was applied.
        let (completed, is_any_lost) = completed.map_err(Error::after_unresolved)?;
        match completed {
            Completed::Completed(entry) | Completed::Again(entry) => Ok(result::to_ran(entry.value, Ran::Done)),
            Completed::Fenced if is_any_lost && self.keeps_less_than(timer.now().saturating_sub(begun)) => {
                Err(Error::unknown("a lost attempt may have recorded the result, which has expired since"))
            }
            Completed::Fenced => Ok(Ran::Fenced),
        }
    }

    /// Returns whether a result that was recorded this long ago may have expired.
    fn keeps_less_than(&self, age: Duration) -> bool {
        matches!(self.options.retention, Retention::For(kept) if kept <= age)
    }

    /// Aborts the lease, and ignores an error.
    pub(super) async fn give_back(&self, lease: &Lease) {
        // After an error the lease lapses by itself, and the run returns the failure of the work in either case.
        let _ = self.options.retry.call(self.timer, |_| self.repo.abort(lease)).await;
    }
}

/// Keeps a lease alive while the work runs.
pub(super) trait Heartbeat {
    /// Extends the lease, and returns when the lease is lost. Sends a value on the channel `begun` when the work may
    /// start.
    fn keep_alive(
        self,
        runner: &Runner<'_>,
        lease: &Lease,
        age: Duration,
        begun: oneshot::Sender<()>,
    ) -> impl Future<Output = ()> + Send;
}

/// A heartbeat that extends the lease in the same future in which the work runs.
pub(super) struct Within;

impl Heartbeat for Within {
    async fn keep_alive(self, runner: &Runner<'_>, lease: &Lease, age: Duration, begun: oneshot::Sender<()>) {
        let _unheard = begun.send(());
        runner.extend_until_lost(lease, age).await;
    }
}

pub(super) type Panic = Box<dyn Any + Send>;

/// Returns the output of the future, or the payload of the panic that ended it.
pub(super) async fn to_its_end<T>(work: impl Future<Output = T>) -> Result<T, Panic> {
    let mut work = pin!(work);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}
