//! What the stages tell each other.

use serde::{Deserialize, Serialize};
use storagebox::Payload;
use storagebox::messages::BoxError;

/// Customers, each with an account.
pub(crate) const CUSTOMERS: u64 = 16;
/// Articles, each with a shelf.
pub(crate) const ARTICLES: u64 = 8;
/// What each account begins with, in coins.
pub(crate) const COINS: u64 = 1_000_000;
/// What each shelf begins with, in pieces.
pub(crate) const PIECES: u64 = 100_000;

/// An order of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) number: u64,
    pub(crate) customer: u64,
    pub(crate) article: u64,
    pub(crate) coins: u64,
}

impl Order {
    /// The order of this number, which is the same each time.
    pub(crate) fn numbered(number: u64) -> Self {
        Self { number, customer: number % CUSTOMERS, article: number / 3 % ARTICLES, coins: 5 + number % 7 }
    }
}

/// The body of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Body {
    /// Coins for an account.
    Deposit { customer: u64, coins: u64 },
    /// Pieces for a shelf.
    Supply { article: u64, pieces: u64 },
    /// An order on its way.
    Order(Order),
}

impl Body {
    pub(crate) fn payload(self) -> storagebox::Result<Payload> {
        Payload::json(&self)
    }

    pub(crate) fn read(payload: &Payload) -> storagebox::Result<Self> {
        payload.parse_json()
    }

    pub(crate) fn order(payload: &Payload) -> Result<Order, BoxError> {
        match Self::read(payload)? {
            Self::Order(order) => Ok(order),
            Self::Deposit { .. } | Self::Supply { .. } => Err(Refused::NoOrder.into()),
        }
    }
}

/// Why a stage does not do what a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("this stage takes orders only")]
    NoOrder,
    #[error("the message is for another stage")]
    OtherStage,
    #[error("the customer has too few coins")]
    TooFewCoins,
    #[error("the shelf is empty")]
    SoldOut,
}
