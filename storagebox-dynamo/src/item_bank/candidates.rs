//! Items that may be taken, fetched by the page and shared by all tasks of the process.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::try_join_all;
use storagebox_core::{ClaimId, Item, Result};
use tokio::sync::Mutex as Queue;

use super::Bank;
use super::item::{FREE, LAPSING, item_of, lapsing_at};
use crate::client::{Index, Look, hex};
use crate::row::Row;

/// An item that may be taken, as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    Free(Item),
    /// Its hold has lapsed; the claim has to be ended first.
    Lapsed {
        item: Item,
        by: ClaimId,
        at: String,
    },
}

impl Candidate {
    pub(super) fn item(&self) -> &Item {
        match self {
            Self::Free(item) | Self::Lapsed { item, .. } => item,
        }
    }

    /// From a row of the index.
    fn read(row: &Row) -> Result<Self> {
        let (item, at) = (item_of(row)?, row.needed("o", row.text("o"))?);
        match row.text("c") {
            Some(by) => Ok(Self::Lapsed { item, by: ClaimId::new(by)?, at: at.to_owned() }),
            None => Ok(Self::Free(item)),
        }
    }
}

/// What was fetched and is not handed out.
#[derive(Debug)]
pub(super) struct Candidates {
    limit: usize,
    pool: Mutex<Pool>,
    /// One look at a time; the others wait for what it finds.
    looking: Queue<()>,
    looks: AtomicU64,
}

#[derive(Debug, Default)]
struct Pool {
    candidates: VecDeque<Candidate>,
    /// The last look found less than a page: the next one goes through everything at once.
    scarce: bool,
    /// The number of the last look that found nothing.
    empty: u64,
}

/// A candidate that a task tries. It goes back unless it is spent, also when the task is dropped.
#[derive(Debug)]
pub(super) struct Lent<'a> {
    pool: &'a Mutex<Pool>,
    candidate: Candidate,
    spent: bool,
}

impl Lent<'_> {
    pub(super) fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// Nobody needs to try it again.
    pub(super) fn spent(mut self) {
        self.spent = true;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if !self.spent {
            lock(self.pool).candidates.push_back(self.candidate.clone());
        }
    }
}

impl Candidates {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, pool: Mutex::default(), looking: Queue::default(), looks: AtomicU64::new(0) }
    }

    /// How many looks have begun; a look with a greater number begins later.
    pub(super) fn looks(&self) -> u64 {
        self.looks.load(Ordering::SeqCst)
    }

    /// The next candidate; none if a look that began after `since` went through the whole bank and found none (IB-4).
    pub(super) async fn next<'a>(&'a self, bank: &Arc<Bank>, since: u64) -> Result<Option<Lent<'a>>> {
        loop {
            if let Some(lent) = self.lend(bank) {
                return Ok(Some(lent));
            }
            let _turn = self.looking.lock().await;
            if !lock(&self.pool).candidates.is_empty() {
                continue;
            }
            if lock(&self.pool).empty > since {
                return Ok(None);
            }
            self.refill(bank).await?;
        }
    }

    /// Fetches the next page before the last candidates are gone.
    fn lend<'a>(&'a self, bank: &Arc<Bank>) -> Option<Lent<'a>> {
        let mut pool = lock(&self.pool);
        let candidate = pool.candidates.pop_front()?;
        if !pool.scarce && pool.candidates.len() == self.limit / 3 {
            fetch_ahead(Arc::clone(bank));
        }
        Some(Lent { pool: &self.pool, candidate, spent: false })
    }

    async fn refill(&self, bank: &Bank) -> Result<()> {
        let number = self.looks.fetch_add(1, Ordering::SeqCst) + 1;
        let scarce = lock(&self.pool).scarce;
        let mut found =
            if scarce { bank.everywhere(self.limit).await? } else { bank.somewhere(self.limit).await? };
        fastrand::shuffle(&mut found);
        let mut pool = lock(&self.pool);
        pool.scarce = found.len() < self.limit;
        if found.is_empty() {
            pool.empty = number;
        }
        let fresh: Vec<_> = found.into_iter().filter(|one| !pool.candidates.contains(one)).collect();
        pool.candidates.extend(fresh);
        Ok(())
    }
}

/// A failure is left to the next taker, who looks for himself.
fn fetch_ahead(bank: Arc<Bank>) {
    tokio::spawn(async move {
        if let Ok(_turn) = bank.candidates.looking.try_lock() {
            let _ = bank.candidates.refill(&bank).await;
        }
    });
}

fn lock(pool: &Mutex<Pool>) -> MutexGuard<'_, Pool> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bank {
    /// A page from a random place of a random shard on; if there is none, from everywhere.
    async fn somewhere(&self, limit: usize) -> Result<Vec<Candidate>> {
        let shard = fastrand::u16(..self.open.shards().await?);
        let start = format!("{FREE}{}", hex(&fastrand::u32(..).to_be_bytes()));
        let page = self.page(shard, &start, limit).await?;
        if page.is_empty() { self.everywhere(limit).await } else { Ok(page) }
    }

    /// A page from the beginning of every shard. Empty only if none had a candidate all the while.
    async fn everywhere(&self, limit: usize) -> Result<Vec<Candidate>> {
        let shards = 0..self.open.shards().await?;
        let pages = try_join_all(shards.map(|shard| self.page(shard, FREE, limit))).await?;
        Ok(pages.into_iter().flatten().collect())
    }

    /// Free items, then holds that have lapsed by every clock; one strongly consistent request.
    async fn page(&self, shard: u16, start: &str, limit: usize) -> Result<Vec<Candidate>> {
        debug_assert!(start < LAPSING);
        let look = Look::at(&self.items(shard), Index::Order)
            .and("o BETWEEN :start AND :end")
            .value(":start", start)
            .value(":end", lapsing_at(self.client().surely_past()))
            .limit(limit);
        let answers = self.client().query(&look).await?;
        answers.rows.iter().map(Candidate::read).collect()
    }
}
