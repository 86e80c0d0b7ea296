//! A call on its way: waiting, made, or withdrawn.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::SqliteConnection;
use storagebox_core::{Error, Result};

use super::known::known;
use super::{Inner, OpenNamespace, Step};

pub(crate) type BoxFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// What a call does with its step and its arguments. It may be asked to do so again, in another transaction.
pub(crate) type Make<A, T> = for<'c, 's> fn(&'c mut Step<'s>, &'c A) -> BoxFuture<'c, Result<T>>;

/// The same by statements each of which is its own transaction; `None` if they do not settle it.
pub(crate) type Once<A, T> = for<'c, 's> fn(&'c mut Step<'s>, &'c A) -> BoxFuture<'c, Result<Option<T>>>;

/// A call as those see it who make it.
pub(super) trait Job: Send + Sync {
    /// Does it, within a transaction, and keeps the answer.
    fn make<'c>(&'c self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, Result<()>>;

    /// Does it without a transaction around it, and keeps the answer: whether it is done. `None` if it is not of that
    /// kind.
    fn make_at_once<'c>(&'c self, connection: &'c mut SqliteConnection) -> Option<BoxFuture<'c, Result<bool>>>;

    /// It is committed.
    fn committed(&self);

    fn progress(&self) -> &Progress;
}

/// How far a call is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    stage: AtomicU8,
    ends: AtomicBool,
}

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Progress {
    /// Whether it is still wanted; from now on it cannot be withdrawn.
    pub(super) fn begin(&self) -> bool {
        let begun = self.stage.compare_exchange(WAITING, BEGUN, Ordering::SeqCst, Ordering::SeqCst);
        !matches!(begun, Err(WITHDRAWN))
    }

    /// Nothing was done, so it waits again, if anybody waits for it.
    pub(super) fn wait_again(&self) {
        self.ends.store(false, Ordering::SeqCst);
        let _withdrawn = self.stage.compare_exchange(BEGUN, WAITING, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// From now on it may have been applied.
    pub(super) fn end(&self) {
        self.ends.store(true, Ordering::SeqCst);
    }

    /// Whether it may have been applied if its task is there no more: what was not committed is rolled back.
    pub(super) fn may_have_ended(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }

    pub(super) fn is_withdrawn(&self) -> bool {
        self.stage.load(Ordering::SeqCst) == WITHDRAWN
    }

    /// Whether it had not begun. One that had comes to its end, but does not begin again.
    fn withdraw(&self) -> bool {
        self.stage.swap(WITHDRAWN, Ordering::SeqCst) != BEGUN
    }
}

/// Withdraws a call whose caller is gone: it is not made if it did not begin.
pub(super) struct Withdrawn(Arc<dyn Job>);

impl Withdrawn {
    pub(super) fn when_dropped(job: Arc<dyn Job>) -> Self {
        Self(job)
    }

    /// Whether it did not begin, and will not.
    pub(super) fn now(&self) -> bool {
        self.0.progress().withdraw()
    }
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.now();
    }
}

/// A call with its arguments, and its answer once it is made.
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

    /// One that may be done without a transaction around it.
    pub(crate) fn or_at_once(self, once: Once<A, T>) -> Self {
        Self { once: Some(once), ..self }
    }

    pub(super) fn answer(&self) -> Result<T> {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.ok_or_else(|| Error::unknown("the call has no answer").on("sqlite"))
    }
}

impl<A: Send + Sync, T: Send> Call<A, T> {
    fn step<'c>(&self, connection: &'c mut SqliteConnection, (number, memory): (i64, Option<i64>)) -> Step<'c> {
        let now = self.inner.now();
        let is_open = self.place.as_ref().is_some_and(|place| place.is_open());
        Step { connection, number, now, forgotten: now.forgotten(memory), is_open }
    }

    /// What may be done without a transaction. A namespace that this process meets for the first time is judged within
    /// one if it was asked for with a memory.
    fn at_once(&self) -> Option<Once<A, T>> {
        let is_judged = self.inner.settings.options.remember.is_none();
        self.once.filter(|_| self.place.as_ref().is_some_and(|place| is_judged || place.is_open()))
    }

    fn keep(&self, answer: T) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// The namespace's number, and how long what has ended is remembered. A namespace that this process meets for the
    /// first time is opened in the same transaction.
    async fn entered(&self, connection: &mut SqliteConnection) -> Result<(i64, Option<i64>)> {
        match &self.place {
            Some(place) => place.enter(connection).await,
            None => {
                let known = known(connection).await?;
                known.check(self.inner.settings.options.remember).map(|memory| (0, memory))
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
