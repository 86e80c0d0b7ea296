//! The stages. A stage has a queue, and entities that decide about the orders that they receive.
//!
//! A stage does not check whether it has seen a message before. The processor does that.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use storagebox::messages::BoxError;
use storagebox::values::Key;
use storagebox::{Decision, Message, Payload};
use storagebox_transports::Received;

use crate::services::{BANK, CARRIER};

/// The number of entities of each stage.
pub(crate) const ENTITIES: u32 = 16;
/// The coins of each account, and the pieces on each shelf, before the first order.
const SUPPLY: u32 = 1_000_000;
/// The initial number of coins in all accounts, and of pieces on all shelves.
pub(crate) const STOCK: u32 = ENTITIES * SUPPLY;

/// An order of one piece of an article.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) number: u32,
    customer: u32,
    article: u32,
    pub(crate) coins: u32,
}

impl Order {
    /// Returns the order with this number. Equal numbers give equal orders.
    pub(crate) fn numbered(number: u32) -> Self {
        Self { number, customer: number % ENTITIES, article: number / 3 % ENTITIES, coins: 5 + number % 7 }
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    /// Supplies an entity of a stage with stock.
    Supply {
        stage: Stage,
        entity: u32,
    },
    Order(Order),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The coins of an account, or the pieces on a shelf.
    pub(crate) stock: u32,
    /// The number of orders that the entity has accepted, paid or shipped.
    pub(crate) orders: u32,
}

impl State {
    pub(crate) fn read(state: Option<Payload>) -> storagebox::Result<Self> {
        state.map_or(Ok(Self::default()), |state| state.parse_json())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the message is for another receiver")]
    WrongReceiver,
    #[error("the account has too few coins, or the shelf is empty")]
    OutOfStock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// The stage that accepts orders, with one entity per customer.
    Orders,
    /// The stage that takes the coins of an order, with one entity per account of a customer.
    Payments,
    /// The stage that takes the piece of an order off the shelf, with one entity per shelf.
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

    /// Returns the stock that an order takes from an entity of this stage.
    fn price(self, order: Order) -> u32 {
        match self {
            Self::Orders => 0,
            Self::Payments => order.coins,
            Self::Shipping => 1,
        }
    }

    /// Returns the receivers of the messages that this stage sends for an order.
    fn destinations(self) -> &'static [&'static str] {
        match self {
            Self::Orders => &["payments"],
            Self::Payments => &[BANK, "shipping"],
            Self::Shipping => &[CARRIER],
        }
    }

    /// Returns the entity that a message changes.
    pub(crate) fn entity(self, received: &Received) -> Result<Key, BoxError> {
        let number = match self.read(&received.body)? {
            Body::Supply { entity, .. } => entity,
            Body::Order(order) if self == Self::Shipping => order.article,
            Body::Order(order) => order.customer,
        };
        Ok(Self::key(number).try_into()?)
    }

    pub(crate) fn key(entity: u32) -> String {
        format!("entity-{entity}")
    }

    /// Returns the new state of the entity and the messages that this stage sends. Has no side effects.
    pub(crate) fn decide(self, state: Option<Payload>, message: &Message) -> Result<Decision, BoxError> {
        let State { stock, orders } = State::read(state)?;
        match self.read(&message.body)? {
            Body::Supply { .. } => {
                let state = State { stock: stock + SUPPLY, orders };
                Ok(Decision::put(Payload::json(&state)?)?)
            }
            Body::Order(order) => {
                let stock = stock.checked_sub(self.price(order)).ok_or(Refusal::OutOfStock)?;
                let decision = Decision::put(Payload::json(&State { stock, orders: orders + 1 })?)?;
                let mut destinations = self.destinations().iter();
                Ok(destinations.try_fold(decision, |decision, to| decision.send(*to, message.body.clone()))?)
            }
        }
    }

    fn read(self, body: &Payload) -> Result<Body, BoxError> {
        match body.parse_json()? {
            Body::Supply { stage, .. } if stage != self => Err(Refusal::WrongReceiver.into()),
            body => Ok(body),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(stage: Stage, state: State, body: Body) -> Result<Decision, BoxError> {
        let message = Message::new("1", "entity", Payload::json(&body).unwrap()).unwrap();
        stage.decide(Some(Payload::json(&state).unwrap()), &message)
    }

    #[test]
    fn order_is_paid_with_its_price_and_sent_to_the_next_stage() {
        let order = Order::numbered(7);
        let body = Payload::json(&Body::Order(order)).unwrap();
        let account = Payload::json(&State { stock: 20 - order.coins, orders: 1 }).unwrap();
        let paid = Decision::put(account).unwrap().send("bank", body.clone()).unwrap().send("shipping", body).unwrap();
        assert_eq!(decide(Stage::Payments, State { stock: 20, orders: 0 }, Body::Order(order)).unwrap(), paid);
        let shipped = decide(Stage::Shipping, State { stock: 1, orders: 0 }, Body::Order(order)).unwrap();
        assert_eq!(shipped.outputs.len(), 1);
    }

    #[test]
    fn an_order_without_stock_is_refused() {
        for stage in [Stage::Payments, Stage::Shipping] {
            let refusal = decide(stage, State::default(), Body::Order(Order::numbered(7))).unwrap_err();
            assert_eq!(refusal.downcast_ref(), Some(&Refusal::OutOfStock));
        }
    }

    #[test]
    fn a_message_for_another_stage_is_refused() {
        let supply = Body::Supply { stage: Stage::Shipping, entity: 1 };
        for stage in [Stage::Orders, Stage::Payments] {
            assert!(decide(stage, State::default(), supply).is_err());
            let body = Payload::json(&supply).unwrap();
            assert!(stage.entity(&Received { id: "1".parse().unwrap(), token: None, body }).is_err());
        }
    }
}
