//! The decision table of counter operations.

use std::sync::Arc;

use storagebox_core::{Bounds, Change, Counter, Key, OpId, Strategy, async_trait};

use super::Age::{self, LongAgo, Recent};
use super::{Cell, ROUNDS, Scene, Table, brief};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::world::World;

pub(super) const TABLE: Table = Table {
    title: "An operation of a counter (`Marker`)",
    about: "`apply` changes the key by 1; `apply another delta` changes it by 2 with the same operation; `apply out of\n\
            bounds` changes it by 1 within a ceiling that is reached.",
    calls: &["apply", "apply another delta", "apply out of bounds", "cancel"],
    rows: &[
        ("the operation is unknown", &["Applied", "Applied", "OutOfBounds", "Cancelled"]),
        ("it is applied", &["AlreadyApplied", "Mismatch", "AlreadyApplied", "AlreadyApplied"]),
        ("it was rejected", &["Applied", "Applied", "OutOfBounds", "Cancelled"]),
        ("it is cancelled", &["Fenced", "Fenced", "Fenced", "Cancelled"]),
        (
            "it was applied long ago",
            &["Applied|AlreadyApplied", "Applied|Mismatch", "OutOfBounds|AlreadyApplied", "Cancelled|AlreadyApplied"],
        ),
        ("it was cancelled long ago", &["Applied|Fenced", "Applied|Fenced", "OutOfBounds|Fenced", "Cancelled"]),
    ],
};

const STATES: [(State, Age); 6] = [
    (State::Unknown, Recent),
    (State::Applied, Recent),
    (State::Rejected, Recent),
    (State::Cancelled, Recent),
    (State::Applied, LongAgo),
    (State::Cancelled, LongAgo),
];

#[derive(Clone, Copy)]
enum State {
    Unknown,
    Applied,
    Rejected,
    Cancelled,
}

struct Operation {
    cell: Cell,
    counter: Arc<dyn Counter>,
    key: Key,
    op: OpId,
}

pub(crate) async fn an_operation_is_answered_by_its_table(world: &World) -> Verdict {
    let (counter, other) = (world.counter(Strategy::default())?, Key::new("other")?);
    let _ = counter.apply(&other, &Change::new(OpId::new("kim")?, 7)).await?;
    for round in ROUNDS {
        TABLE.ask::<Operation>(world, round, |state| STATES[state].1).await?;
        ensure_eq!(counter.value(&other).await?, 7, "another key's value");
    }
    Ok(())
}

#[async_trait]
impl Scene for Operation {
    async fn begun(world: &World, cell: Cell) -> Result<Self, Failure> {
        let key = Key::new(cell.name.as_str())?;
        let scene = Self { cell, counter: world.counter(Strategy::default())?, key, op: OpId::new("ada")? };
        scene.reach(STATES[scene.cell.state].0).await?;
        Ok(scene)
    }

    async fn ask(&self) -> Verdict {
        let before = self.counter.value(&self.key).await?;
        let answer = self.answer().await?;
        TABLE.ensure(self.cell.place(), &answer)?;
        let again = self.answer().await?;
        let expected = if answer == "Applied" { "AlreadyApplied" } else { &answer };
        TABLE.ensure_after(self.cell.place(), "the same call", &again, expected)?;
        let delta = if TABLE.calls[self.cell.call] == "apply" { 1 } else { 2 };
        let expected = if answer == "Applied" { before + delta } else { before };
        let value = self.counter.value(&self.key).await?;
        TABLE.ensure_after(self.cell.place(), "the value", &value.to_string(), &expected.to_string())
    }
}

impl Operation {
    async fn reach(&self, state: State) -> Verdict {
        match state {
            State::Unknown => {}
            State::Applied => drop(self.apply(1).await?),
            State::Rejected => drop(self.rejected().await?),
            State::Cancelled => drop(self.counter.cancel(&self.key, &self.op).await?),
        }
        Ok(())
    }

    async fn answer(&self) -> Result<String, Failure> {
        match TABLE.calls[self.cell.call] {
            "apply" => self.apply(1).await,
            "apply another delta" => self.apply(2).await,
            "apply out of bounds" => self.rejected().await,
            _ => Ok(brief(&self.counter.cancel(&self.key, &self.op).await?)),
        }
    }

    async fn apply(&self, delta: i64) -> Result<String, Failure> {
        Ok(brief(&self.counter.apply(&self.key, &Change::new(self.op.clone(), delta)).await?))
    }

    /// Makes a change that is rejected, because the key is at 0 and the ceiling is 0.
    async fn rejected(&self) -> Result<String, Failure> {
        let change = Change::new(self.op.clone(), 1).within(Bounds::at_most(0));
        Ok(brief(&self.counter.apply(&self.key, &change).await?))
    }
}
