//! A call on its way: waiting, made, or withdrawn.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sqlx::SqliteConnection;
use storagebox_core::{Error, Result};

use super::{Inner, OpenBox, Step};
use crate::schema;

pub(crate) type BoxFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// What a call does with its step and its arguments. It may be asked to do so again, in another transaction.
pub(crate) type Make<A, T> = for<'c, 's> fn(&'c mut Step<'s>, &'c A) -> BoxFuture<'c, Result<T>>;

/// A call as those see it who make it.
pub(super) trait Job: Send + Sync {
    /// Does it, within a transaction, and keeps the answer.
    fn make<'c>(&'c self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, Result<()>>;

    /// The transaction is committed.
    fn committed(&self);

    fn progress(&self) -> &Progress;
}

/// How far a call is.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU8);

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Progress {
    /// Whether it is still wanted; from now on it cannot be withdrawn.
    pub(super) fn begin(&self) -> bool {
        let begun = self.0.compare_exchange(WAITING, BEGUN, Ordering::SeqCst, Ordering::SeqCst);
        !matches!(begun, Err(WITHDRAWN))
    }

    /// Its transaction was rolled back, so it waits again.
    pub(super) fn wait_again(&self) {
        self.0.store(WAITING, Ordering::SeqCst);
    }

    pub(super) fn is_withdrawn(&self) -> bool {
        self.0.load(Ordering::SeqCst) == WITHDRAWN
    }

    fn withdraw(&self) -> bool {
        let withdrawn = self.0.compare_exchange(WAITING, WITHDRAWN, Ordering::SeqCst, Ordering::SeqCst);
        matches!(withdrawn, Ok(_) | Err(WITHDRAWN))
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
pub(super) struct Call<A, T> {
    inner: Arc<Inner>,
    place: Option<Arc<OpenBox>>,
    arguments: A,
    make: Make<A, T>,
    progress: Progress,
    answer: Mutex<Option<T>>,
    number: OnceLock<i64>,
}

impl<A, T> Call<A, T> {
    pub(super) fn new(
        inner: &Arc<Inner>,
        place: Option<&Arc<OpenBox>>,
        arguments: A,
        make: Make<A, T>,
    ) -> Self {
        let (inner, place) = (Arc::clone(inner), place.cloned());
        let (progress, answer, number) = Default::default();
        Self { inner, place, arguments, make, progress, answer, number }
    }

    pub(super) fn answer(&self) -> Result<T> {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.ok_or_else(|| Error::unknown("the call has no answer").on("sqlite"))
    }
}

impl<A: Send + Sync, T: Send> Call<A, T> {
    /// The box's number. A box that this process meets for the first time is opened in the same transaction.
    async fn entered(&self, connection: &mut SqliteConnection) -> Result<i64> {
        match &self.place {
            Some(place) => place.enter(connection).await,
            None => schema::check(schema::version(connection).await?).map(|()| 0),
        }
    }
}

impl<A: Send + Sync, T: Send> Job for Call<A, T> {
    fn make<'c>(&'c self, connection: &'c mut SqliteConnection) -> BoxFuture<'c, Result<()>> {
        Box::pin(async move {
            let number = self.entered(connection).await?;
            let now = self.inner.now();
            let mut step = Step { connection, number, now, forgotten: self.inner.forgotten(now) };
            let answer = (self.make)(&mut step, &self.arguments).await?;
            *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
            let _known = self.number.set(number);
            Ok(())
        })
    }

    fn committed(&self) {
        if let (Some(place), Some(number)) = (&self.place, self.number.get()) {
            place.opened(*number);
        }
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }
}
