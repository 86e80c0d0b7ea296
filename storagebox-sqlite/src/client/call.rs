//! A call: its function, its arguments and its progress.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::SqliteConnection;
use storagebox_core::{Error, Result};

use super::store_info::store_info;
use super::{Inner, OpenNamespace, Step};

pub(crate) type BoxFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// The function that makes a call in a transaction, and may run again in another transaction.
pub(crate) type Make<A, T> = for<'c, 's> fn(&'c mut Step<'s>, &'c A) -> BoxFuture<'c, Result<T>>;

/// The function that makes a call without a transaction: each of its statements commits by itself. Returns `None` if
/// the statements changed nothing and the call needs a transaction.
pub(crate) type Once<A, T> = for<'c, 's> fn(&'c mut Step<'s>, &'c A) -> BoxFuture<'c, Result<Option<T>>>;

/// A call without the types of its arguments and its answer.
pub(super) trait Job: Send + Sync {
    /// Makes the call within a transaction, and keeps its answer.
    fn make<'c>(&'c self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, Result<()>>;

    /// Makes the call without a transaction, and keeps its answer. Returns `None` or `false` if the call needs a
    /// transaction.
    fn make_at_once<'c>(&'c self, connection: &'c mut SqliteConnection) -> Option<BoxFuture<'c, Result<bool>>>;

    fn committed(&self);

    fn progress(&self) -> &Progress;
}

#[derive(Debug, Default)]
pub(super) struct Progress {
    stage: AtomicU8,
    ends: AtomicBool,
}

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Progress {
    /// Begins the call. Returns `false` if the call was withdrawn.
    pub(super) fn begin(&self) -> bool {
        let begun = self.stage.compare_exchange(WAITING, BEGUN, Ordering::SeqCst, Ordering::SeqCst);
        !matches!(begun, Err(WITHDRAWN))
    }

    /// Marks a call that changed nothing as waiting again. A withdrawn call stays withdrawn.
    pub(super) fn wait_again(&self) {
        self.ends.store(false, Ordering::SeqCst);
        let _withdrawn = self.stage.compare_exchange(BEGUN, WAITING, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Records that the commit begins, so that the call may be applied from now on.
    pub(super) fn end(&self) {
        self.ends.store(true, Ordering::SeqCst);
    }

    /// Returns whether the commit has begun, so that the call may have been applied.
    pub(super) fn may_have_ended(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }

    pub(super) fn is_withdrawn(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == WITHDRAWN
    }

    /// Withdraws the call. Returns `false` if the call has begun: then the call continues, but is not retried.
    fn withdraw(&self) -> bool {
        self.stage.swap(WITHDRAWN, Ordering::SeqCst) != BEGUN
    }
}

/// A guard that withdraws the call on drop.
pub(super) struct Withdrawn(Arc<dyn Job>);

impl Withdrawn {
    pub(super) fn when_dropped(job: Arc<dyn Job>) -> Self {
        Self(job)
    }

    /// Withdraws the call. Returns `true` if the call had not begun.
    pub(super) fn now(&self) -> bool {
        self.0.progress().withdraw()
    }
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.now();
    }
}

/// A call with its arguments and, after it was made, its answer.
pub(crate) struct Call<A, T> {
    inner: Arc<Inner>,
    place: Option<Arc<OpenNamespace>>,
    arguments: A,
    make: Make<A, T>,
    once: Option<Once<A, T>>,
    progress: Progress,
    answer: Mutex<Option<T>>,
}

impl<A, T> Call<A, T> {
    pub(crate) fn new(inner: &Arc<Inner>, place: Option<&Arc<OpenNamespace>>, arguments: A, make: Make<A, T>) -> Self {
        let (inner, place) = (Arc::clone(inner), place.cloned());
        let (progress, answer) = Default::default();
        Self { inner, place, arguments, make, once: None, progress, answer }
    }

    /// Sets the function that makes the call without a transaction.
    pub(crate) fn or_at_once(self, once: Once<A, T>) -> Self {
        Self { once: Some(once), ..self }
    }

    pub(super) fn answer(&self) -> Result<T> {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.ok_or_else(|| Error::unknown("the call ended without an answer").on("sqlite"))
    }
}

impl<A: Send + Sync, T: Send> Call<A, T> {
    fn step<'c>(&self, connection: &'c mut SqliteConnection, (number, memory): (i64, Option<i64>)) -> Step<'c> {
        let now = self.inner.now();
        let is_open = self.place.as_ref().is_some_and(|place| place.is_open());
        Step { connection, number, now, forgotten: now.forgotten(memory), is_open }
    }

    /// Returns the function that makes the call without a transaction, if the call needs no transaction.
    fn at_once(&self) -> Option<Once<A, T>> {
        // With a `remember`, the first call on a namespace needs a transaction, which compares `remember` with the
        // stored memory.
        let is_judged = self.inner.settings.options.remember.is_none();
        self.once.filter(|_| self.place.as_ref().is_some_and(|place| is_judged || place.is_open()))
    }

    fn keep(&self, answer: T) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// Opens the namespace if it is not open. Returns its number and the store's memory in microseconds (`None`: for
    /// ever).
    async fn entered(&self, connection: &mut SqliteConnection) -> Result<(i64, Option<i64>)> {
        match &self.place {
            Some(place) => place.enter(connection).await,
            None => {
                let info = store_info(connection).await?;
                info.check(self.inner.settings.options.remember).map(|memory| (0, memory))
            }
        }
    }
}

impl<A: Send + Sync, T: Send> Job for Call<A, T> {
    fn make<'c>(&'c self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, Result<()>> {
        Box::pin(async move {
            let entered = self.entered(connection).await?;
            let mut step = self.step(connection, entered);
            let answer = (self.make)(&mut step, &self.arguments).await?;
            self.keep(answer);
            Ok(())
        })
    }

    fn make_at_once<'c>(&'c self, connection: &'c mut SqliteConnection) -> Option<BoxFuture<'c, Result<bool>>> {
        let once = self.at_once()?;
        Some(Box::pin(async move {
            let mut step = self.step(connection, (0, None));
            let answer = once(&mut step, &self.arguments).await?;
            Ok(answer.map(|answer| self.keep(answer)).is_some())
        }))
    }

    fn committed(&self) {
        if let Some(place) = &self.place {
            place.opened();
        }
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }
}
