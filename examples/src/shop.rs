//! A shop as somebody writes it who has read the README: vouchers, orders that are sent twice, webhooks, stock, seats
//! that are held while they are paid for, and upkeep.

use std::time::Duration;

use storagebox::{Bank, Confirmed, Counted, Counters, Dedup, Error, Ran, Result, RunError, Store, Taken};
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
    orders: Dedup,
    stock: Counters,
    seats: Bank,
    webhooks: Dedup,
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
    /// The id is that of an order of something else, which stays as it is.
    OtherOrder,
}

/// What became of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// This delivery was worked on.
    Now,
    /// An earlier delivery was: the sender need not deliver it again.
    Before,
    /// Another process is working on it and may fail: the sender must deliver it again.
    InWork,
}

/// The seat of a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seat {
    /// The visit has this seat.
    Held(String),
    /// All seats are taken; one may come free.
    SoldOut,
    /// The visit's time is over.
    TooLate,
}

/// Why the stock did not change, if not because it is empty.
#[derive(Debug, thiserror::Error)]
pub enum Uncounted {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// The change was refused: its operation was made before with another number of pieces, was cancelled, or does not
    /// fit into what the store can count or remember.
    #[error("the stock was not changed: {0:?}")]
    Refused(Counted),
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
        let (orders, stock) = (store.dedup("orders")?, store.counters("stock")?);
        let webhooks = store.dedup("webhooks")?;
        Ok(Self { store, vouchers, orders, stock, seats, webhooks })
    }

    /// Fills the shelves. Doing it again with the same delivery changes nothing.
    ///
    /// # Errors
    ///
    /// Those of the store. [`Uncounted::Refused`] if the delivery was noted with another number of pieces.
    pub async fn deliver(&self, delivery: &str, sku: &str, pieces: i64) -> Result<(), Uncounted> {
        match self.stock.add(sku, pieces).by(delivery).await? {
            Counted::Applied { .. } | Counted::AlreadyApplied { .. } => Ok(()),
            refused => Err(Uncounted::Refused(refused)),
        }
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
    /// Those of the store and of the stock. After one, the same order may be sent again.
    #[instrument(skip(self), err)]
    pub async fn order(&self, id: &str, sku: &str) -> Result<Ordered, RunError<Uncounted>> {
        let ran = self.orders.run(id, |_fence| self.place(id, sku)).fingerprint(sku).await?;
        Ok(match ran {
            Ran::Done(receipt) | Ran::Replayed(receipt) => match String::from_utf8_lossy(receipt.as_bytes()) {
                receipt if receipt.is_empty() => Ordered::SoldOut,
                receipt => Ordered::Placed(receipt.into_owned()),
            },
            // Only a receipt can be too long to be kept.
            Ran::NotKept { .. } => Ordered::Placed(receipt(id)),
            // Another request has begun, also if this one was too slow. `Over` answers calls that take up a run.
            Ran::InFlight { .. } | Ran::Fenced | Ran::Over => Ordered::BeingPlaced,
            Ran::Mismatch => Ordered::OtherOrder,
        })
    }

    /// The sale has the order's id: placed again after a crash, it is not counted twice.
    async fn place(&self, id: &str, sku: &str) -> Result<String, Uncounted> {
        match self.stock.add(sku, -1).within(0..).by(id).await? {
            Counted::Applied { .. } | Counted::AlreadyApplied { .. } => Ok(receipt(id)),
            Counted::OutOfBounds => Ok(String::new()),
            // Nothing is recorded of a failure, so the order can be sent again once its cause is gone.
            refused => Err(Uncounted::Refused(refused)),
        }
    }

    /// Works on a webhook once, however often it is delivered, also to several processes at once.
    ///
    /// # Errors
    ///
    /// Those of the store and of the work. After one, the sender may deliver it again.
    pub async fn webhook<W, E>(&self, id: &str, work: impl FnOnce() -> W + Send) -> Result<Delivered, RunError<E>>
    where
        W: Future<Output = Result<(), E>> + Send,
        E: Send,
    {
        let ran = self.webhooks.run(id, |_fence| async { work().await.map(|()| "") }).await?;
        Ok(match ran {
            Ran::Done(_) => Delivered::Now,
            Ran::Replayed(_) | Ran::NotKept { .. } => Delivered::Before,
            Ran::InFlight { .. } | Ran::Mismatch | Ran::Fenced | Ran::Over => Delivered::InWork,
        })
    }

    /// Holds a seat for a visit, the same one however often it asks, until it is paid for or the time is over. A visit
    /// that let its time pass gets none any more; the next visit has another id.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn hold_seat(&self, visit: &str) -> Result<Seat> {
        Ok(match self.seats.take(visit).for_at_most(TO_PAY).await? {
            Taken::New(held) | Taken::Again(held) => Seat::Held(held.item.as_str().to_owned()),
            Taken::Empty => Seat::SoldOut,
            Taken::Ended(_) => Seat::TooLate,
        })
    }

    /// The seat that is the visit's for good, if the visit held one until now.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn pay_seat(&self, visit: &str) -> Result<Option<String>> {
        Ok(match self.seats.confirm(visit).await? {
            Confirmed::Confirmed(seat) => Some(seat.as_str().to_owned()),
            Confirmed::Ended(_) | Confirmed::Unknown => None,
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

fn receipt(order: &str) -> String {
    format!("receipt of {order}")
}
