//! A run before it begins.

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::Policy;
use storagebox_core::{
    DedupId, Error, Fence, Fingerprint, LeaseRepo, OpId, Ran, Result, Retention, Retry, RunError, RunOptions, Timer,
};
use tokio::runtime::Handle;

use crate::handles::IntoValue;

/// A run of work. Awaiting it runs the work: see [`Dedup::run`](crate::Dedup::run).
#[must_use = "a run begins when it is awaited"]
pub struct Run<'a, W> {
    leases: Result<Arc<dyn LeaseRepo>>,
    timer: &'a Arc<dyn Timer>,
    of: Result<(DedupId, RunOptions)>,
    work: W,
}

impl<'a, W> Run<'a, W> {
    pub(crate) fn new(leases: Result<Arc<dyn LeaseRepo>>, policy: &'a Policy, id: Result<DedupId>, work: W) -> Self {
        // The recording of a result is retried even without a retry policy.
        let once = Retry { attempts: 1, ..Retry::default() };
        let options = RunOptions::default().retry(policy.retry.unwrap_or(once));
        Self { leases, timer: &policy.timer, of: id.map(|id| (id, options)), work }
    }

    /// Sets how long the lease lasts without an extension. It is extended after every third of this time until the
    /// result is recorded. So it limits how long a crashed runner blocks others, not how long the work may take.
    /// Defaults to 30 seconds.
    pub fn lease(self, lease: Duration) -> Self {
        self.set(|options| Ok(options.lease(lease)))
    }

    /// Sets how long the result is kept. Defaults to 7 days.
    pub fn keep(self, retention: Retention) -> Self {
        self.set(|options| Ok(options.retention(retention)))
    }

    /// Sets the fingerprint of the request: the same id with another fingerprint returns `Mismatch` (D-6), also after a
    /// crash, until the true request has run again or the store has forgotten the crashed run.
    pub fn fingerprint(self, fingerprint: impl IntoValue<Fingerprint>) -> Self {
        self.set(|options| Ok(options.fingerprint(fingerprint.into_value()?)))
    }

    /// Waits this long for another run to end instead of returning `InFlight` at once.
    pub fn wait(self, limit: Duration) -> Self {
        self.set(|options| Ok(options.wait(limit)))
    }

    /// Begins under the runner's own name and takes over the lease that a runner of this name has on the id, *even if
    /// that runner is still at work*. Use it for a runner that is the only one with its name and restarts after a
    /// crash, such as the only worker 3. Never use it for a name that two runners may share, such as a request's
    /// idempotency key, which is the id.
    ///
    /// Without it, a crashed runner's lease lapses, and then any runner may begin. A name can be used for one run of an
    /// id: after its work has failed, the run is [`Over`](Ran::Over).
    pub fn take_up(self, runner: impl IntoValue<OpId>) -> Self {
        self.set(|options| Ok(options.take_up(runner.into_value()?)))
    }

    /// Sets how retryable errors of the store are retried. Defaults to the store's retry policy.
    pub fn retry(self, retry: Retry) -> Self {
        self.set(|options| Ok(options.retry(retry)))
    }

    /// Sets how long to retry recording the result while the store has problems: the work is done and cannot be done
    /// again. The pauses are those of the retry, whatever its number of attempts. Defaults to five minutes.
    pub fn record_within(self, limit: Duration) -> Self {
        self.set(|options| Ok(options.record_within(limit)))
    }

    /// Runs in a separate tokio task with the tracing span of the caller. Dropping the future ends only the waiting:
    /// the run continues, and the next caller with the same id gets its result.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](crate::Dedup::run); `OutcomeUnknown` if the task ended before the work, and
    /// `Misconfigured` outside a tokio runtime, for which there is [`run_to_end`](crate::parts::run_to_end).
    pub fn to_end(self) -> RunToEnd<'a, W> {
        RunToEnd(self)
    }

    fn set(mut self, set: impl FnOnce(RunOptions) -> Result<RunOptions>) -> Self {
        self.of = self.of.and_then(|(id, options)| Ok((id, set(options)?)));
        self
    }
}

impl<'a, W, F, T, E> IntoFuture for Run<'a, W>
where
    W: FnOnce(Fence) -> F + Send + 'a,
    F: Future<Output = Result<T, E>> + Send + 'a,
    T: Into<bytes::Bytes> + 'a,
    E: Send + 'a,
{
    type Output = Result<Ran, RunError<E>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { leases, timer, of, work } = self;
        Box::pin(async move {
            let ((id, options), leases) = (of?, leases?);
            match Handle::try_current() {
                Ok(runtime) => {
                    let spawn = move |task| runtime.spawn(task);
                    storagebox_core::run_with_heartbeat(leases, Arc::clone(timer), spawn, &id, &options, work).await
                }
                Err(_) => storagebox_core::run(&*leases, &**timer, &id, &options, work).await,
            }
        })
    }
}

/// A run that continues when its caller drops the future: see [`Run::to_end`].
#[must_use = "a run begins when it is awaited"]
pub struct RunToEnd<'a, W>(Run<'a, W>);

impl<'a, W, F, T, E> IntoFuture for RunToEnd<'a, W>
where
    W: FnOnce(Fence) -> F + Send + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
    T: Into<bytes::Bytes>,
    E: Send + 'static,
{
    type Output = Result<Ran, RunError<E>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let Run { leases, timer, of, work } = self.0;
        let timer = Arc::clone(timer);
        Box::pin(async move {
            let ((id, options), leases) = (of?, leases?);
            let without = |_| Error::misconfigured("runtime", "must be tokio: a tokio task runs the work");
            let runtime = Handle::try_current().map_err(without)?;
            let spawn = move |task| runtime.spawn(task);
            storagebox_core::run_to_end(leases, timer, spawn, &id, &options, work).await
        })
    }
}

impl<W> fmt::Debug for Run<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("of", &self.of).finish_non_exhaustive()
    }
}

impl<W> fmt::Debug for RunToEnd<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
