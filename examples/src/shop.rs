//! A shop as somebody writes it who has read the README: vouchers, orders that are sent twice, webhooks, stock, seats
//! that are held while they are paid for, and upkeep.

use std::time::Duration;

use storagebox::{Bank, Bounds, Confirmed, Counted, Counters, Error, Hold, Leases, Ran, Result, RunError, Store};
use tracing::instrument;

/// How long a seat is held for a customer who pays for it.
pub const TO_PAY: Duration = Duration::from_secs(10 * 60);

/// Entries that one round of upkeep deletes at the most.
const ENTRIES: usize = 1_000;

/// What the shop keeps, each in a namespace of its own.
#[derive(Clone, Debug)]
pub struct Shop {
    store: Store,
    vouchers: Bank,
    orders: Leases,
    stock: Counters,
    seats: Bank,
    webhooks: Leases,
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// It was placed, now or when it was sent before; this is its receipt.
    Placed(String),
    /// The same order is being placed by another request.
    BeingPlaced,
    /// There was nothing in stock. The same order stays so; who tries again sends another one.
    SoldOut,
}

impl Shop {
    /// A shop in the store, which is made ready for it.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn open(store: Store) -> Result<Self> {
        store.setup().await?;
        let (vouchers, seats) = (store.bank("vouchers")?, store.bank("seats")?);
        let (orders, stock) = (store.leases("orders")?, store.counters("stock")?);
        let webhooks = store.leases("webhooks")?;
        Ok(Self { store, vouchers, orders, stock, seats, webhooks })
    }

    /// Fills the shelves. Doing it again with the same delivery changes nothing.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn deliver(&self, delivery: &str, sku: &str, pieces: i64) -> Result<()> {
        self.stock.add(sku, delivery, pieces).await.map(drop)
    }

    /// Brings voucher codes and seats.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn offer(&self, codes: &[String], seats: &[String]) -> Result<()> {
        self.vouchers.add(codes).await?;
        self.seats.add(seats).await.map(drop)
    }

    /// The voucher of a customer: the same one on every click. `None` if there are none left.
    /// The span does not show the address.
    ///
    /// # Errors
    ///
    /// Those of the store.
    #[instrument(skip_all, err)]
    pub async fn voucher(&self, email: &str) -> Result<Option<String>> {
        let taken = self.vouchers.assign(email).await?;
        Ok(taken.item().map(|item| item.as_str().to_owned()))
    }

    /// Places an order once, however often it is sent: the id is the one that the customer's browser made.
    ///
    /// # Errors
    ///
    /// Those of the store. After one, the same order may be sent again.
    #[instrument(skip(self), err)]
    pub async fn order(&self, id: &str, sku: &str) -> Result<Ordered, RunError<Error>> {
        let ran = self.orders.run(id, |_fence| self.place(id, sku)).await?;
        Ok(match ran {
            Ran::Done(receipt) | Ran::Replayed(receipt) => match String::from_utf8_lossy(receipt.as_bytes()) {
                receipt if receipt.is_empty() => Ordered::SoldOut,
                receipt => Ordered::Placed(receipt.into_owned()),
            },
            _ => Ordered::BeingPlaced,
        })
    }

    /// The sale has the order's id: placed again after a crash, it is not counted twice.
    async fn place(&self, id: &str, sku: &str) -> Result<String> {
        let sold = self.stock.apply(sku, id, -1).within(Bounds::at_least(0)).await?;
        Ok(if matches!(sold, Counted::Applied { .. } | Counted::AlreadyApplied { .. }) {
            format!("receipt of {id}")
        } else {
            String::new()
        })
    }

    /// Works on a webhook once, however often it is delivered, also by several processes at once: true for who did.
    ///
    /// # Errors
    ///
    /// Those of the store and of the work. After one, the sender may deliver it again.
    pub async fn webhook<W, E>(&self, id: &str, work: impl FnOnce() -> W + Send) -> Result<bool, RunError<E>>
    where
        W: Future<Output = Result<(), E>> + Send,
        E: Send,
    {
        let ran = self.webhooks.run(id, |_fence| async { work().await.map(|()| "") }).await?;
        Ok(matches!(ran, Ran::Done(_)))
    }

    /// Holds a seat for a visit, the same one however often it asks, until it is paid for or the time is over. A visit
    /// that let its time pass gets none any more; the next visit has another id.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn hold_seat(&self, visit: &str) -> Result<Option<String>> {
        let taken = self.seats.take(visit, Hold::For(TO_PAY)).await?;
        Ok(taken.item().map(|item| item.as_str().to_owned()))
    }

    /// The seat that is the visit's for good, if it was held until now.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn pay_seat(&self, visit: &str) -> Result<Option<String>> {
        Ok(match self.seats.confirm(visit).await? {
            Confirmed::Confirmed(seat) => Some(seat.as_str().to_owned()),
            _ => None,
        })
    }

    /// What a scheduler calls now and then: deletes what has ended.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn clean_up(&self) -> Result<()> {
        while self.store.maintain(ENTRIES).await?.more {}
        Ok(())
    }
}
