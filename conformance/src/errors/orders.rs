//! ER-5: two calls with one id, two attempts each, and a delivery, in every order in which they can arrive.

use std::sync::Arc;

use storagebox_core::{
    Attempt, Bounds, Change, ClaimId, Counted, Counter, Hold, ItemBank, Key, OpId, Result, Retention, Strategy, Taken,
};

use crate::failure::{Failure, Verdict, ensure_eq};
use crate::world::{World, items};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// The first attempt of the call with this number.
    First(i64),
    /// The second attempt of the call with this number, after a lost reply.
    Second(i64),
    Delivery,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Got,
    Had,
    Refused,
}

const ARRIVALS: [Arrival; 5] =
    [Arrival::First(0), Arrival::Second(0), Arrival::First(1), Arrival::Second(1), Arrival::Delivery];

/// The number of random orders of arrival that are tested on a store whose calls are expensive.
const DRAWN: usize = 24;

/// The state of a correct store.
#[derive(Debug, Default)]
struct Model {
    is_delivered: bool,
    is_taken: bool,
    is_void: [bool; 2],
}

impl Model {
    fn answer(&mut self, call: i64, is_second: bool) -> Answer {
        let is_void = &mut self.is_void[call as usize];
        if self.is_taken {
            return Answer::Had;
        }
        if *is_void || !self.is_delivered {
            *is_void |= is_second;
            return Answer::Refused;
        }
        self.is_taken = true;
        Answer::Got
    }
}

enum Place {
    Bank(Arc<dyn ItemBank>, ClaimId),
    Counter(Arc<dyn Counter>, Key, Change),
}

impl Place {
    async fn attempt(&self, attempt: Attempt) -> Result<Answer, Failure> {
        match self {
            Self::Bank(bank, claim) => match bank.attempt_take(attempt, claim, Hold::Forever).await? {
                Taken::New(_) => Ok(Answer::Got),
                Taken::Again(_) => Ok(Answer::Had),
                Taken::Empty => Ok(Answer::Refused),
                Taken::Ended(end) => Err(Failure::new(format!("the claim ended by itself: {end:?}"))),
            },
            Self::Counter(counter, key, sale) => match counter.attempt_apply(attempt, key, sale).await? {
                Counted::Applied { .. } => Ok(Answer::Got),
                Counted::AlreadyApplied { .. } => Ok(Answer::Had),
                Counted::OutOfBounds => Ok(Answer::Refused),
                other => Err(Failure::new(format!("the sale is answered {other:?}"))),
            },
        }
    }

    async fn deliver(&self) -> Verdict {
        match self {
            Self::Bank(bank, _) => bank.add(&items(1)?).await.map(drop)?,
            Self::Counter(counter, key, _) => {
                let delivery = Change::new(OpId::new("delivery")?, 1);
                let _ = counter.apply(key, &delivery).await?;
            }
        }
        Ok(())
    }

    /// Returns the number of free items, or the value of the counter.
    async fn left(&self) -> Result<u64, Failure> {
        match self {
            Self::Bank(bank, _) => Ok(bank.counts().await?.free),
            Self::Counter(counter, key, _) => Ok(counter.value(key).await?.unsigned_abs()),
        }
    }

    async fn check(&self, order: &[Arrival]) -> Verdict {
        let mut model = Model::default();
        for arrival in order {
            let (call, is_second) = match *arrival {
                Arrival::Delivery => {
                    self.deliver().await?;
                    model.is_delivered = true;
                    continue;
                }
                Arrival::First(call) => (call, false),
                Arrival::Second(call) => (call, true),
            };
            let answer = self.attempt(Attempt::of_call(call).after_lost(is_second)).await?;
            ensure_eq!(answer, model.answer(call, is_second), "the answer to {arrival:?} of {order:?}");
        }
        let expected = u64::from(model.is_delivered && !model.is_taken);
        ensure_eq!(self.left().await?, expected, "what is left after {order:?}");
        Ok(())
    }
}

pub(super) async fn every_order_of_two_calls_and_a_delivery_takes_as_it_is_told(world: &World) -> Verdict {
    for (number, order) in orders(world).into_iter().enumerate() {
        let bank = world.store().item_bank(&format!("bank-{number}").parse()?)?;
        Place::Bank(bank, ClaimId::new("ada")?).check(&order).await?;
    }
    Ok(())
}

pub(super) async fn every_order_of_two_calls_and_a_delivery_sells_as_it_is_told(world: &World) -> Verdict {
    let (bounds, retention) = (Bounds::at_least(0), Retention::DEFAULT);
    let window = Strategy::Window { lifetime: std::time::Duration::from_secs(3_600), capacity: 100 };
    let strategies = [Strategy::default(), window, Strategy::Sharded { shards: 3, bounds, retention }];
    for (number, strategy) in strategies.into_iter().enumerate() {
        let counter = world.store().counter(&format!("stock-{number}").parse()?, strategy)?;
        let sale = Change::new(OpId::new("sale")?, -1);
        let sale = if counter.promise().bounds_per_change { sale.within(bounds) } else { sale };
        for (number, order) in orders(world).into_iter().enumerate() {
            let key = Key::new(format!("key-{number}"))?;
            Place::Counter(Arc::clone(&counter), key, sale.clone()).check(&order).await?;
        }
    }
    Ok(())
}

/// Returns all 120 orders of arrival, or some of them for a store whose calls are expensive.
fn orders(world: &World) -> Vec<Vec<Arrival>> {
    let mut orders = vec![vec![]];
    for arrival in ARRIVALS {
        orders = orders.iter().flat_map(|order| with(order, arrival)).collect();
    }
    if world.profile() != crate::world::Profile::QUICK {
        world.rng().shuffle(&mut orders);
        orders.truncate(DRAWN);
    }
    orders
}

/// Returns the orders that result when this arrival is inserted at each position of `order`.
fn with(order: &[Arrival], arrival: Arrival) -> Vec<Vec<Arrival>> {
    let at = |place: usize| [&order[..place], &[arrival], &order[place..]].concat();
    (0..=order.len()).map(at).collect()
}
