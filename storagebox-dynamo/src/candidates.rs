//! Items that may be taken: fetched page by page, and shared by all tasks of the process.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use storagebox_core::Result;
use storagebox_core::backend::SingleFlight;

use crate::lock::lock;

pub(crate) trait Source: Send + Sync + 'static {
    /// An item that may be taken, as the read returned it.
    type Candidate: Clone + PartialEq + Send;

    fn candidates(&self) -> &Candidates<Self::Candidate>;

    /// Reads a page that begins at a random key. If the page is empty, reads a page from the beginning.
    fn page_from_anywhere(&self, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;

    /// Reads a page from the beginning. If an item is free during the whole read, the page is not empty.
    fn page_from_start(&self, limit: usize) -> impl Future<Output = Result<Vec<Self::Candidate>>> + Send;
}

/// A pool of fetched candidates, which tasks borrow.
#[derive(Debug)]
pub(crate) struct Candidates<C> {
    limit: usize,
    pool: Mutex<Pool<C>>,
    /// Lets only one task at a time fetch a page.
    fetching: SingleFlight,
    fetches: AtomicU64,
}

#[derive(Debug)]
struct Pool<C> {
    candidates: VecDeque<C>,
    /// Whether the last fetch returned less than a full page.
    scarce: bool,
    /// The sequence number of the last fetch that found no item.
    empty: u64,
}

/// A borrowed candidate, which goes back to the pool on drop unless it is marked as spent.
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

    /// Marks the candidate as spent, so that it does not go back to the pool.
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
        Self { limit, pool: Mutex::new(pool), fetching: SingleFlight::default(), fetches: AtomicU64::new(0) }
    }

    /// Returns the number of fetches so far. A fetch with a greater number begins after this call.
    pub(crate) fn fetches(&self) -> u64 {
        self.fetches.load(Ordering::SeqCst)
    }

    /// Lends the next candidate; `None` if a fetch with a number greater than `since` found no item (IB-4).
    pub(crate) async fn next<'a, S>(&'a self, source: &Arc<S>, since: u64) -> Result<Option<Lent<'a, C>>>
    where
        S: Source<Candidate = C>,
    {
        loop {
            if let Some(lent) = self.lend(source) {
                return Ok(Some(lent));
            }
            let _flight = self.fetching.next().await;
            if !lock(&self.pool).candidates.is_empty() {
                continue;
            }
            if lock(&self.pool).empty > since {
                return Ok(None);
            }
            self.refill(&**source).await?;
        }
    }

    /// Lends a candidate from the pool, and fetches the next page early if the pool is nearly empty.
    fn lend<'a, S: Source<Candidate = C>>(&'a self, source: &Arc<S>) -> Option<Lent<'a, C>> {
        let mut pool = lock(&self.pool);
        let candidate = pool.candidates.pop_front()?;
        if !pool.scarce && pool.candidates.len() == self.limit / 3 {
            fetch_ahead(Arc::clone(source));
        }
        Some(Lent { pool: &self.pool, candidate, spent: false })
    }

    async fn refill<S: Source<Candidate = C>>(&self, source: &S) -> Result<()> {
        let number = self.fetches.fetch_add(1, Ordering::SeqCst) + 1;
        let scarce = lock(&self.pool).scarce;
        let mut found = match scarce {
            true => source.page_from_start(self.limit).await?,
            false => source.page_from_anywhere(self.limit).await?,
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

/// Fetches a page in the background.
fn fetch_ahead<S: Source>(source: Arc<S>) {
    tokio::spawn(async move {
        let candidates = source.candidates();
        if let Some(_flight) = candidates.fetching.now() {
            // The error is ignored: the next task that finds the pool empty fetches a page by itself.
            let _ = candidates.refill(&*source).await;
        }
    });
}
