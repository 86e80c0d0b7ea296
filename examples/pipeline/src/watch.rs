//! Where all orders are, as the store and the books say it.

use futures_util::future::{join_all, try_join_all};
use storagebox::Processor;

use crate::failure::Failure;
use crate::messages::{ARTICLES, CUSTOMERS};
use crate::outside::{Books, Service};
use crate::place::{Dedup, Site};
use crate::stage::{Account, Shelf, Stage, account_key, order_key, shelf_key};

/// How many of the oldest open orders are looked up at once.
const WINDOW: usize = 64;
/// How many entries of a stage are counted at the most.
const ENTRIES: usize = 1_000;

/// What was seen at one look. The parts were read one after another, while the pipeline was at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) placed: u64,
    pub(crate) accepted: u64,
    pub(crate) paid: u64,
    pub(crate) shipped: u64,
    /// In the accounts.
    pub(crate) coins: u64,
    /// On the shelves.
    pub(crate) pieces: u64,
    /// Messages of each stage that changed their entity and whose own messages may not be sent yet.
    pub(crate) half_done: [usize; Stage::ALL.len()],
    pub(crate) bank: Books,
    pub(crate) carrier: Books,
}

impl Seen {
    /// The messages of a stage that have not changed their entity yet, parked ones included.
    pub(crate) fn in_flight(&self, stage: Stage) -> u64 {
        match stage {
            Stage::Orders => self.placed.saturating_sub(self.accepted),
            Stage::Payments => self.accepted.saturating_sub(self.paid),
            Stage::Shipping => self.paid.saturating_sub(self.shipped),
        }
    }

    /// Whether the parcel of each order is on its way and no stage has anything left to send.
    ///
    /// With the deduplication off, that says nothing of what is left: a copy that is processed again has an entry of its
    /// own, and nobody resumes it if its worker is killed and a late acknowledgement of the first has ended the message.
    pub(crate) fn is_over(&self, dedup: Dedup) -> bool {
        let nothing_is_left = self.half_done == [0; Stage::ALL.len()];
        self.carrier.orders >= self.placed && (nothing_is_left || dedup == Dedup::Off)
    }
}

/// Looks again and again.
pub(crate) struct Watch {
    site: Site,
    /// One of each stage, which only answers what stands there.
    stages: [Processor; Stage::ALL.len()],
    /// The oldest orders that were not accepted when they were last looked up, and the number of the next one.
    open: Vec<u64>,
    next: u64,
}

impl Watch {
    pub(crate) fn of(site: &Site) -> Result<Self, Failure> {
        let [orders, payments, shipping] = Stage::ALL;
        let stages = [site.processor(orders)?, site.processor(payments)?, site.processor(shipping)?];
        Ok(Self { site: site.clone(), stages, open: Vec::new(), next: 0 })
    }

    pub(crate) async fn look(&mut self, placed: u64) -> Result<Seen, Failure> {
        let accepted = self.accepted(placed).await?;
        let accounts = self.accounts().await?;
        let shelves = self.shelves().await?;
        Ok(Seen {
            placed,
            accepted,
            paid: accounts.iter().map(|account| account.payments).sum(),
            shipped: shelves.iter().map(|shelf| shelf.parcels).sum(),
            coins: accounts.iter().map(|account| account.coins).sum(),
            pieces: shelves.iter().map(|shelf| shelf.pieces).sum(),
            half_done: self.half_done().await?,
            bank: self.site.outside.books(Service::Bank).await?,
            carrier: self.site.outside.books(Service::Carrier).await?,
        })
    }

    /// An order that was accepted stays so, so that only the open ones are looked up.
    async fn accepted(&mut self, placed: u64) -> Result<u64, Failure> {
        let orders = &self.stages[Stage::Orders as usize];
        loop {
            while self.next < placed && self.open.len() < WINDOW {
                self.open.push(self.next);
                self.next += 1;
            }
            let before = self.open.len();
            let looks = join_all(self.open.iter().map(|number| orders.state(order_key(*number)))).await;
            let states = looks.into_iter().collect::<Result<Vec<_>, _>>()?;
            let mut states = states.iter();
            self.open.retain(|_| states.next().is_some_and(Option::is_none));
            if self.open.len() == before || self.next == placed {
                return Ok(self.next - self.open.len() as u64);
            }
        }
    }

    async fn accounts(&self) -> Result<Vec<Account>, Failure> {
        let accounts = &self.stages[Stage::Payments as usize];
        let states = try_join_all((0..CUSTOMERS).map(|customer| accounts.state(account_key(customer)))).await?;
        Ok(states.into_iter().map(Account::read).collect::<Result<_, _>>()?)
    }

    async fn shelves(&self) -> Result<Vec<Shelf>, Failure> {
        let shelves = &self.stages[Stage::Shipping as usize];
        let states = try_join_all((0..ARTICLES).map(|article| shelves.state(shelf_key(article)))).await?;
        Ok(states.into_iter().map(Shelf::read).collect::<Result<_, _>>()?)
    }

    async fn half_done(&self) -> Result<[usize; Stage::ALL.len()], Failure> {
        let mut entries = [0; Stage::ALL.len()];
        for (entries, stage) in entries.iter_mut().zip(&self.stages) {
            *entries = stage.pending().page(None, ENTRIES).await?.entries.len();
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_counts_while_the_deduplication_is_on() {
        let carrier = Books { orders: 9, ..Books::default() };
        let left = Seen { placed: 9, half_done: [0, 0, 1], carrier, ..Seen::default() };
        assert!(!left.is_over(Dedup::On) && left.is_over(Dedup::Off));
        let missing = Seen { placed: 10, ..left };
        assert!(!missing.is_over(Dedup::Off));
    }
}
