//! The stages. Each has entities, a queue, and a handler that decides and has no effect of its own.
//!
//! No handler looks whether it ran for this message before. That is the processor's job.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use storagebox::messages::BoxError;
use storagebox::values::Key;
use storagebox::{Decision, Message, Payload};
use storagebox_transports::Received;

use crate::messages::{Body, Refused};
use crate::names::{BANK, CARRIER, Names};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// Accepts orders. An entity is an order.
    Orders,
    /// Takes the coins. An entity is the account of a customer.
    Payments,
    /// Takes the piece off its shelf. An entity is the shelf of an article.
    Shipping,
}

impl Stage {
    pub(crate) const ALL: [Self; 3] = [Self::Orders, Self::Payments, Self::Shipping];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Payments => "payments",
            Self::Shipping => "shipping",
        }
    }

    /// The entity that a message changes.
    pub(crate) fn entity(self, received: &Received) -> Result<Key, BoxError> {
        let key = match (self, Body::read(&received.body)?) {
            (Self::Orders, Body::Order(order)) => order_key(order.number),
            (Self::Payments, Body::Order(order)) => account_key(order.customer),
            (Self::Payments, Body::Deposit { customer, .. }) => account_key(customer),
            (Self::Shipping, Body::Order(order)) => shelf_key(order.article),
            (Self::Shipping, Body::Supply { article, .. }) => shelf_key(article),
            _ => return Err(Refused::OtherStage.into()),
        };
        Ok(key.try_into()?)
    }

    pub(crate) fn decide(self, names: &Names, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        match self {
            Self::Orders => accept(names, message),
            Self::Payments => pay(names, Account::read(state)?, message),
            Self::Shipping => ship(Shelf::read(state)?, message),
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An account of a customer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) coins: u64,
    /// How many orders were paid from it.
    pub(crate) payments: u64,
}

/// The shelf of an article.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shelf {
    pub(crate) pieces: u64,
    /// How many pieces were taken off it.
    pub(crate) parcels: u64,
}

impl Account {
    pub(crate) fn read(state: Option<Payload>) -> storagebox::Result<Self> {
        state.map_or(Ok(Self::default()), |state| state.parse_json())
    }
}

impl Shelf {
    pub(crate) fn read(state: Option<Payload>) -> storagebox::Result<Self> {
        state.map_or(Ok(Self::default()), |state| state.parse_json())
    }
}

pub(crate) fn order_key(number: u64) -> String {
    format!("order-{number}")
}

pub(crate) fn account_key(customer: u64) -> String {
    format!("customer-{customer}")
}

pub(crate) fn shelf_key(article: u64) -> String {
    format!("article-{article}")
}

fn accept(names: &Names, message: &Message) -> Result<Decision, BoxError> {
    Body::order(&message.body)?;
    Ok(Decision::put("accepted")?.send(names.queue(Stage::Payments), message.body.clone())?)
}

fn pay(names: &Names, account: Account, message: &Message) -> Result<Decision, BoxError> {
    let order = match Body::read(&message.body)? {
        Body::Deposit { coins, .. } => {
            return Ok(Decision::put(Payload::json(&Account { coins: account.coins + coins, ..account })?)?);
        }
        Body::Order(order) => order,
        Body::Supply { .. } => return Err(Refused::OtherStage.into()),
    };
    let coins = account.coins.checked_sub(order.coins).ok_or(Refused::TooFewCoins)?;
    let paid = Decision::put(Payload::json(&Account { coins, payments: account.payments + 1 })?)?;
    Ok(paid.send(BANK, message.body.clone())?.send(names.queue(Stage::Shipping), message.body.clone())?)
}

fn ship(shelf: Shelf, message: &Message) -> Result<Decision, BoxError> {
    match Body::read(&message.body)? {
        Body::Supply { pieces, .. } => {
            Ok(Decision::put(Payload::json(&Shelf { pieces: shelf.pieces + pieces, ..shelf })?)?)
        }
        Body::Order(_) => {
            let pieces = shelf.pieces.checked_sub(1).ok_or(Refused::SoldOut)?;
            let shipped = Decision::put(Payload::json(&Shelf { pieces, parcels: shelf.parcels + 1 })?)?;
            Ok(shipped.send(CARRIER, message.body.clone())?)
        }
        Body::Deposit { .. } => Err(Refused::OtherStage.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Order;

    fn message(body: Body) -> Message {
        Message::new("1", "entity", body.payload().unwrap()).unwrap()
    }

    fn decide(stage: Stage, state: Option<Payload>, body: Body) -> Result<Decision, BoxError> {
        stage.decide(&Names::new("test"), state, &message(body))
    }

    #[test]
    fn coins_and_pieces_only_move() {
        let order = Order::numbered(7);
        let account = Payload::json(&Account { coins: 20, payments: 0 }).unwrap();
        let paid = decide(Stage::Payments, Some(account), Body::Order(order)).unwrap();
        assert_eq!(paid, {
            let body = Body::Order(order).payload().unwrap();
            let account = Payload::json(&Account { coins: 20 - order.coins, payments: 1 }).unwrap();
            Decision::put(account).unwrap().send("bank", body.clone()).unwrap().send("test-shipping", body).unwrap()
        });
        let shelf = Payload::json(&Shelf { pieces: 1, parcels: 0 }).unwrap();
        let shipped = decide(Stage::Shipping, Some(shelf), Body::Order(order)).unwrap();
        assert_eq!(shipped.outputs.len(), 1);
    }

    #[test]
    fn what_is_not_there_is_not_taken() {
        let order = Body::Order(Order::numbered(7));
        assert!(decide(Stage::Payments, None, order).unwrap_err().to_string().contains("too few coins"));
        assert!(decide(Stage::Shipping, None, order).unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn a_message_of_another_stage_is_refused() {
        let supply = Body::Supply { article: 1, pieces: 1 };
        for stage in [Stage::Orders, Stage::Payments] {
            assert!(decide(stage, None, supply).is_err());
            let received = Received { id: "1".parse().unwrap(), token: None, body: supply.payload().unwrap() };
            assert!(stage.entity(&received).is_err());
        }
    }
}
