//! Items that may be taken, fetched by the page and shared by all tasks of the process.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storagebox_core::Result;

use crate::single_flight::SingleFlight;

/// What candidates are fetched from.
pub(crate) trait Source: Send + Sync + 'static {
    /// What may be taken, as it was seen.
    type Candidate: Clone + PartialEq + Send;

    fn candidates(&self) -> &Candidates<Self::Candidate>;

    /// A page from some place on; if there is nothing, from everywhere.
    fn somewhere(&self, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;

    /// From the beginning on. Empty only if there was nothing all the while.
    fn everywhere(&self, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;
}

/// What was fetched and is not handed out.
#[derive(Debug)]
pub(crate) struct Candidates<C> {
    limit: usize,
    pool: Mutex<Pool<C>>,
    /// One look at a time, as long as it goes on; the others wait for what it finds.
    looking: SingleFlight,
    looks: AtomicU64,
}

#[derive(Debug)]
struct Pool<C> {
    candidates: VecDeque<C>,
    /// The last look found less than a page: the next one goes through everything at once.
    scarce: bool,
    /// The number of the last look that found nothing.
    empty: u64,
}

/// A candidate that a task tries. It goes back unless it is spent, also when the task is dropped.
#[derive(Debug)]
pub(crate) struct Lent<'a, C: Clone> {
    pool: &'a Mutex<Pool<C>>,
    candidate: C,
    spent: bool,
}

impl<C: Clone> Lent<'_, C> {
    pub(crate) fn candidate(&self) -> &C {
        &self.candidate
    }

    /// Nobody needs to try it again.
    pub(crate) fn spent(mut self) {
        self.spent = true;
    }
}

impl<C: Clone> Drop for Lent<'_, C> {
    fn drop(&mut self) {
        if !self.spent {
            lock(self.pool).candidates.push_back(self.candidate.clone());
        }
    }
}

impl<C: Clone + PartialEq> Candidates<C> {
    pub(crate) fn new(limit: usize) -> Self {
        let pool = Pool { candidates: VecDeque::new(), scarce: false, empty: 0 };
        Self { limit, pool: Mutex::new(pool), looking: SingleFlight::default(), looks: AtomicU64::new(0) }
    }

    /// How many looks have begun; a look with a greater number begins later.
    pub(crate) fn looks(&self) -> u64 {
        self.looks.load(Ordering::SeqCst)
    }

    /// The next candidate; none if a look that began after `since` went through everything and found none (IB-4).
    pub(crate) async fn next<'a, S>(&'a self, source: &Arc<S>, since: u64) -> Result<Option<Lent<'a, C>>>
    where
        S: Source<Candidate = C>,
    {
        loop {
            if let Some(lent) = self.lend(source) {
                return Ok(Some(lent));
            }
            let _turn = self.looking.next().await;
            if !lock(&self.pool).candidates.is_empty() {
                continue;
            }
            if lock(&self.pool).empty > since {
                return Ok(None);
            }
            self.refill(&**source).await?;
        }
    }

    /// Fetches the next page before the last candidates are gone.
    fn lend<'a, S: Source<Candidate = C>>(&'a self, source: &Arc<S>) -> Option<Lent<'a, C>> {
        let mut pool = lock(&self.pool);
        let candidate = pool.candidates.pop_front()?;
        if !pool.scarce && pool.candidates.len() == self.limit / 3 {
            fetch_ahead(Arc::clone(source));
        }
        Some(Lent { pool: &self.pool, candidate, spent: false })
    }

    async fn refill<S: Source<Candidate = C>>(&self, source: &S) -> Result<()> {
        let number = self.looks.fetch_add(1, Ordering::SeqCst) + 1;
        let scarce = lock(&self.pool).scarce;
        let mut found = match scarce {
            true => source.everywhere(self.limit).await?,
            false => source.somewhere(self.limit).await?,
        };
        fastrand::shuffle(&mut found);
        let mut pool = lock(&self.pool);
        pool.scarce = found.len() < self.limit;
        if found.is_empty() {
            pool.empty = pool.empty.max(number);
        }
        let fresh: Vec<_> = found.into_iter().filter(|one| !pool.candidates.contains(one)).collect();
        pool.candidates.extend(fresh);
        Ok(())
    }
}

/// A failure is left to the next taker, who looks for himself.
fn fetch_ahead<S: Source>(source: Arc<S>) {
    tokio::spawn(async move {
        let candidates = source.candidates();
        if let Some(_turn) = candidates.looking.now() {
            let _ = candidates.refill(&*source).await;
        }
    });
}

fn lock<C>(pool: &Mutex<Pool<C>>) -> MutexGuard<'_, Pool<C>> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}
