//! Operations of a counter.

use storagebox_core::{Bounds, Change, Key, OpId, Retention, Strategy};

use super::{Table, brief};
use crate::failure::{Failure, Verdict};
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
    ],
};

/// The states of the table, in its order.
const STATES: [State; 4] = [State::Unknown, State::Applied, State::Rejected, State::Cancelled];

#[derive(Clone, Copy)]
enum State {
    Unknown,
    Applied,
    Rejected,
    Cancelled,
}

/// One key of the counter, and the operation.
struct Scene {
    counter: std::sync::Arc<dyn storagebox_core::Counter>,
    key: Key,
    op: OpId,
}

pub(crate) async fn an_operation_is_answered_by_its_table(world: &World) -> Verdict {
    let counter = world.counter(Strategy::Marker { retention: Retention::Forever })?;
    for (state, call) in TABLE.asked() {
        let key = Key::new(format!("key-{state}-{call}"))?;
        let scene = Scene { counter: counter.clone(), key, op: OpId::new("ada")? };
        scene.reach(STATES[state]).await?;
        TABLE.ensure((state, call), &scene.answer(call).await?)?;
    }
    Ok(())
}

impl Scene {
    async fn reach(&self, state: State) -> Verdict {
        match state {
            State::Unknown => {}
            State::Applied => drop(self.apply(1).await?),
            State::Rejected => drop(self.rejected().await?),
            State::Cancelled => drop(self.counter.cancel(&self.key, &self.op).await?),
        }
        Ok(())
    }

    async fn answer(&self, call: usize) -> Result<String, Failure> {
        match TABLE.calls[call] {
            "apply" => self.apply(1).await,
            "apply another delta" => self.apply(2).await,
            "apply out of bounds" => self.rejected().await,
            _ => Ok(brief(&self.counter.cancel(&self.key, &self.op).await?)),
        }
    }

    async fn apply(&self, delta: i64) -> Result<String, Failure> {
        Ok(brief(&self.counter.apply(&self.key, &Change::new(self.op.clone(), delta)).await?))
    }

    /// A key begins at 0, which is this ceiling.
    async fn rejected(&self) -> Result<String, Failure> {
        let change = Change::new(self.op.clone(), 1).within(Bounds::at_most(0));
        Ok(brief(&self.counter.apply(&self.key, &change).await?))
    }
}
