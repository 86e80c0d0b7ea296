//! The decision table of claims.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{ClaimId, ClaimState, Hold, HoldState, Item, ItemBank, ItemState, async_trait};

use super::Age::{self, LongAgo, Recent};
use super::{Cell, ROUNDS, Scene, Table, brief};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::world::World;

pub(super) const TABLE: Table = Table {
    title: "A claim of a bank",
    about: "The bank has free items. `take` and `extend` ask for a hold without an end.",
    calls: &["take", "extend", "confirm", "release", "retire", "get"],
    rows: &[
        ("the claim is unknown", &["New", "Unknown", "Unknown", "Released", "Unknown", "Unknown"]),
        ("it holds an item for ever", &["Again", "Extended", "Confirmed", "Released", "Holding", "Held"]),
        ("it holds an item for a time", &["Again", "Extended", "Confirmed", "Released", "Holding", "Held"]),
        (
            "its hold has lapsed",
            &["Ended(Expired)", "Ended(Expired)", "Ended(Expired)", "Expired", "Retired", "Ended(Expired)"],
        ),
        (
            "its hold has lapsed, and another claim took the item",
            &["Ended(Expired)", "Ended(Expired)", "Ended(Expired)", "Expired", "Retired", "Ended(Expired)"],
        ),
        ("it is confirmed", &["Again", "Confirmed", "Confirmed", "Confirmed", "Retired", "Held"]),
        (
            "it is released",
            &["Ended(Released)", "Ended(Released)", "Ended(Released)", "Released", "Retired", "Ended(Released)"],
        ),
        (
            "it was released before it was known",
            &["Ended(Released)", "Ended(Released)", "Ended(Released)", "Released", "Retired", "Ended(Released)"],
        ),
        ("it was confirmed and then retired", &["New", "Unknown", "Unknown", "Released", "Unknown", "Unknown"]),
        ("its hold lapsed long ago", LAPSED_LONG_AGO),
        ("its hold lapsed long ago, and another claim took the item", LAPSED_LONG_AGO),
        ("it was released long ago", RELEASED_LONG_AGO),
        ("it was released long ago, before it was known", RELEASED_LONG_AGO),
    ],
};

const LAPSED_LONG_AGO: &[&str] = &[
    "New|Ended(Expired)",
    "Unknown|Ended(Expired)",
    "Unknown|Ended(Expired)",
    "Released|Expired",
    "Unknown|Retired",
    "Unknown|Ended(Expired)",
];

const RELEASED_LONG_AGO: &[&str] = &[
    "New|Ended(Released)",
    "Unknown|Ended(Released)",
    "Unknown|Ended(Released)",
    "Released",
    "Unknown|Retired",
    "Unknown|Ended(Released)",
];

const STATES: [(State, Age); 13] = [
    (State::Unknown, Recent),
    (State::Held, Recent),
    (State::HeldForATime, Recent),
    (State::Lapsed, Recent),
    (State::Retaken, Recent),
    (State::Confirmed, Recent),
    (State::Released, Recent),
    (State::Fenced, Recent),
    (State::Retired, Recent),
    (State::Lapsed, LongAgo),
    (State::Retaken, LongAgo),
    (State::Released, LongAgo),
    (State::Fenced, LongAgo),
];

/// The duration of a hold that does not expire during the case.
const LONG: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy)]
enum State {
    Unknown,
    Held,
    HeldForATime,
    Lapsed,
    Retaken,
    Confirmed,
    Released,
    Fenced,
    Retired,
}

/// A bank with three items: one that the claim `kim` holds, one for the state of the cell, and a spare item.
struct Claims {
    cell: Cell,
    bank: Arc<dyn ItemBank>,
    ada: ClaimId,
    bob: ClaimId,
    kim: ClaimId,
}

pub(crate) async fn a_claim_is_answered_by_its_table(world: &World) -> Verdict {
    for round in ROUNDS {
        TABLE.ask::<Claims>(world, round, |state| STATES[state].1).await?;
    }
    Ok(())
}

#[async_trait]
impl Scene for Claims {
    async fn begun(world: &World, cell: Cell) -> Result<Self, Failure> {
        let bank = world.filled_bank(&cell.name, 2).await?;
        let (ada, bob, kim) = (ClaimId::new("ada")?, ClaimId::new("bob")?, ClaimId::new("kim")?);
        let _ = bank.take(&kim, Hold::Forever).await?;
        let hold = match STATES[cell.state].0 {
            State::Unknown | State::Fenced => None,
            State::HeldForATime => Some(Hold::For(LONG)),
            State::Lapsed | State::Retaken => Some(Hold::For(world.short())),
            State::Held | State::Confirmed | State::Released | State::Retired => Some(Hold::Forever),
        };
        if let Some(hold) = hold {
            let _ = bank.take(&ada, hold).await?;
        }
        match STATES[cell.state].0 {
            State::Confirmed | State::Retired => drop(bank.confirm(&ada).await?),
            State::Released | State::Fenced => drop(bank.release(&ada).await?),
            _ => {}
        }
        if let State::Retired = STATES[cell.state].0 {
            let _ = bank.retire(&ada).await?;
        }
        Ok(Self { cell, bank, ada, bob, kim })
    }

    async fn completed(&mut self) -> Verdict {
        if let State::Retaken = STATES[self.cell.state].0 {
            let _ = self.bank.take(&self.bob, Hold::Forever).await?;
        }
        self.bank.add(&[Item::new("spare")?]).await?;
        Ok(())
    }

    async fn ask(&self) -> Verdict {
        let answer = self.answer().await?;
        TABLE.ensure(self.cell.place(), &answer)?;
        let again = self.answer().await?;
        TABLE.ensure_after(self.cell.place(), "the same call", &again, self.again(&answer))?;
        let state = brief(&self.bank.get(&self.ada).await?);
        TABLE.ensure_after(self.cell.place(), "the claim", &state, self.state_after(&answer))?;
        let whole = self.ensure_whole().await;
        whole.map_err(|failure| {
            failure.during(format_args!("after {} where {}", self.call(), TABLE.rows[self.cell.state].0))
        })
    }
}

impl Claims {
    fn call(&self) -> &'static str {
        TABLE.calls[self.cell.call]
    }

    async fn answer(&self) -> Result<String, Failure> {
        let (bank, ada) = (&self.bank, &self.ada);
        Ok(match self.call() {
            "take" => brief(&bank.take(ada, Hold::Forever).await?),
            "extend" => brief(&bank.extend(ada, Hold::Forever).await?),
            "confirm" => brief(&bank.confirm(ada).await?),
            "release" => brief(&bank.release(ada).await?),
            "retire" => brief(&bank.retire(ada).await?),
            _ => brief(&bank.get(ada).await?),
        })
    }

    /// Returns the expected answer to a repetition of the call, if the first answer was `answer`.
    fn again<'a>(&self, answer: &'a str) -> &'a str {
        match answer {
            "New" => "Again",
            "Retired" => "Unknown",
            settled => settled,
        }
    }

    /// Returns the state that `get` must return after the call was answered with `answer`.
    fn state_after<'a>(&self, answer: &'a str) -> &'a str {
        match (self.call(), answer) {
            ("retire", "Retired") => "Unknown",
            ("release", "Released") => "Ended(Released)",
            ("release", "Expired") => "Ended(Expired)",
            (_, "New" | "Again" | "Extended" | "Confirmed" | "Holding") => "Held",
            (_, same) => same,
        }
    }

    /// Checks that each item in use and its claim name each other, and that the call changed no other claim.
    async fn ensure_whole(&self) -> Verdict {
        let mut expected = BTreeMap::new();
        for claim in [&self.ada, &self.bob, &self.kim] {
            if let ClaimState::Held(held) = self.bank.get(claim).await? {
                let named = Some(claim.clone());
                let is_spent = held.hold == HoldState::Confirmed;
                let state = if is_spent { ItemState::Spent(named) } else { ItemState::Held(claim.clone()) };
                ensure!(expected.insert(held.item, state).is_none(), "an item is held twice");
            }
        }
        let others = [(&self.kim, true), (&self.bob, matches!(STATES[self.cell.state].0, State::Retaken))];
        for (claim, _) in others.into_iter().filter(|(_, holds)| *holds) {
            let state = ItemState::Held(claim.clone());
            ensure!(expected.values().any(|found| *found == state), "{claim:?} has lost its item");
        }
        let listed = self.bank.list(None, 10).await?.entries;
        ensure_eq!(listed.len(), 3, "items listed");
        let in_use =
            listed.into_iter().filter(|entry| matches!(entry.state, ItemState::Held(_) | ItemState::Spent(Some(_))));
        let in_use: BTreeMap<_, _> = in_use.map(|entry| (entry.item, entry.state)).collect();
        ensure_eq!(in_use, expected, "the items in use, and those that the claims name");
        let counts = self.bank.counts().await?;
        ensure_eq!((counts.total(), counts.held), (3, held(&expected)), "the items in all, and those held");
        Ok(())
    }
}

fn held(items: &BTreeMap<Item, ItemState>) -> u64 {
    items.values().filter(|state| matches!(state, ItemState::Held(_))).count() as u64
}
