//! A shop as a reader of the README would write it: vouchers, orders that are sent twice, webhooks, stock, seats that
//! are held until they are paid for, and upkeep.

use std::time::Duration;

use storagebox::{Bank, Confirmed, Counted, Counters, Dedup, Error, Ran, Result, RunError, Store, Taken};
use tracing::instrument;

/// How long a seat is held for a customer who pays for it.
pub const TO_PAY: Duration = Duration::from_secs(10 * 60);

/// The maximum number of entries that one call of `maintain` deletes.
const ENTRIES: usize = 1_000;

/// A shop. Each of its parts has its own namespace.
#[derive(Clone, Debug)]
pub struct Shop {
    store: Store,
    vouchers: Bank,
    orders: Dedup,
    stock: Counters,
    seats: Bank,
    webhooks: Dedup,
}

/// The outcome of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// The order was placed, now or by an earlier request. Contains the receipt.
    Placed(String),
    /// Another request is placing the same order.
    BeingPlaced,
    /// The article was not in stock. An order with this id stays sold out, so a second try needs another id.
    SoldOut,
    /// An order of another article has this id. That order is unchanged.
    OtherOrder,
}

/// The outcome of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The shop has processed this delivery.
    Now,
    /// The shop has processed an earlier delivery, so the sender need not deliver the webhook again.
    Before,
    /// Another process is processing the webhook and may fail, so the sender must deliver it again.
    InWork,
}

/// The seat of a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seat {
    /// The visit has this seat.
    Held(String),
    /// All seats are taken. A seat may become free later.
    SoldOut,
    /// The visit's time is over.
    TooLate,
}

/// The reason why the stock did not change, other than an empty stock.
#[derive(Debug, thiserror::Error)]
pub enum Uncounted {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// The change was refused. The operation was cancelled or had another number of pieces before, or the counter has
    /// no room for the value or the operation.
    #[error("the stock was not changed: {0:?}")]
    Refused(Counted),
}

impl Shop {
    /// Opens a shop in the store, and sets the store up.
    ///
    /// # Errors
    ///
    /// Returns any error of the store.
    pub async fn open(store: Store) -> Result<Self> {
        store.setup().await?;
        let (vouchers, seats) = (store.bank("vouchers")?, store.bank("seats")?);
        let (orders, stock) = (store.dedup("orders")?, store.counters("stock")?);
        let webhooks = store.dedup("webhooks")?;
        Ok(Self { store, vouchers, orders, stock, seats, webhooks })
    }

    /// Adds a delivery to the stock. A second call for the same delivery changes nothing.
    ///
    /// # Errors
    ///
    /// Returns any error of the store, and [`Uncounted::Refused`] if the delivery was added before with another number
    /// of pieces.
    pub async fn deliver(&self, delivery: &str, sku: &str, pieces: i64) -> Result<(), Uncounted> {
        match self.stock.add(sku, pieces).by(delivery).await? {
            Counted::Applied { .. } | Counted::AlreadyApplied { .. } => Ok(()),
            refused => Err(Uncounted::Refused(refused)),
        }
    }

    /// Adds voucher codes and seats.
    ///
    /// # Errors
    ///
    /// Returns any error of the store.
    pub async fn offer(&self, codes: &[String], seats: &[String]) -> Result<()> {
        self.vouchers.add(codes).await?;
        self.seats.add(seats).await.map(drop)
    }

    /// Returns the voucher of a customer, the same voucher on every click, or `None` if no voucher is left. The span
    /// does not show the address.
    ///
    /// # Errors
    ///
    /// Returns any error of the store.
    #[instrument(skip_all, err)]
    pub async fn voucher(&self, email: &str) -> Result<Option<String>> {
        let taken = self.vouchers.assign(email).await?;
        Ok(taken.item().map(|item| item.as_str().to_owned()))
    }

    /// Places an order once, however often it is sent. The customer's browser creates the id.
    ///
    /// # Errors
    ///
    /// Returns any error of the store and of the stock. After an error, the same order may be sent again.
    #[instrument(skip(self), err)]
    pub async fn order(&self, id: &str, sku: &str) -> Result<Ordered, RunError<Uncounted>> {
        let ran = self.orders.run(id, |_fence| self.place(id, sku)).fingerprint(sku).await?;
        Ok(match ran {
            Ran::Done(receipt) | Ran::Replayed(receipt) => match String::from_utf8_lossy(receipt.as_bytes()) {
                receipt if receipt.is_empty() => Ordered::SoldOut,
                receipt => Ordered::Placed(receipt.into_owned()),
            },
            // The result is a receipt, because the empty result of a sold-out order is never too long to keep.
            Ran::NotKept { .. } => Ordered::Placed(receipt(id)),
            // Another request is placing the order. For `Fenced`, it has begun because this request was too slow.
            // `Over` cannot occur here, because this call takes up no earlier run.
            Ran::InFlight { .. } | Ran::Fenced | Ran::Over => Ordered::BeingPlaced,
            Ran::Mismatch => Ordered::OtherOrder,
        })
    }

    /// Takes the article from the stock, once per order id.
    async fn place(&self, id: &str, sku: &str) -> Result<String, Uncounted> {
        match self.stock.add(sku, -1).within(0..).by(id).await? {
            Counted::Applied { .. } | Counted::AlreadyApplied { .. } => Ok(receipt(id)),
            Counted::OutOfBounds => Ok(String::new()),
            // No failure is recorded, so the order can be sent again once the cause is gone.
            refused => Err(Uncounted::Refused(refused)),
        }
    }

    /// Processes a webhook once, however often it is delivered, even to several processes at once.
    ///
    /// # Errors
    ///
    /// Returns any error of the store and of the work. After an error, the sender may deliver the webhook again.
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

    /// Holds a seat for a visit until the seat is paid for or the time is over. Repeated calls return the same seat. A
    /// visit whose time is over gets no seat again; the next visit has another id.
    ///
    /// # Errors
    ///
    /// Returns any error of the store.
    pub async fn hold_seat(&self, visit: &str) -> Result<Seat> {
        Ok(match self.seats.take(visit).for_at_most(TO_PAY).await? {
            Taken::New(held) | Taken::Again(held) => Seat::Held(held.item.as_str().to_owned()),
            Taken::Empty => Seat::SoldOut,
            Taken::Ended(_) => Seat::TooLate,
        })
    }

    /// Makes the seat that the visit holds permanent, and returns the seat. Returns `None` if the visit holds no seat.
    ///
    /// # Errors
    ///
    /// Returns any error of the store.
    pub async fn pay_seat(&self, visit: &str) -> Result<Option<String>> {
        Ok(match self.seats.confirm(visit).await? {
            Confirmed::Confirmed(seat) => Some(seat.as_str().to_owned()),
            Confirmed::Ended(_) | Confirmed::Unknown => None,
        })
    }

    /// Deletes what has ended. A scheduler calls it from time to time.
    ///
    /// # Errors
    ///
    /// Returns any error of the store.
    pub async fn clean_up(&self) -> Result<()> {
        while self.store.maintain(ENTRIES).await?.more {}
        Ok(())
    }
}

fn receipt(order: &str) -> String {
    format!("receipt of {order}")
}
