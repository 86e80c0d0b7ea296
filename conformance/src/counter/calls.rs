//! Every mutating call: its preconditions, its answer, and the state after it.

use std::sync::Arc;

use storagebox_core::{Backend, Bounds, Cancelled, Counted, Result, async_trait};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::repeatable::{Repeatable, Told};
use crate::world::World;

/// A call on a counter with the value 5 and the bounds 0 to 10, which the operation `known` set from 0 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Apply,
    ApplyKnown,
    ApplyTooMuch,
    Cancel,
    CancelKnown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call(Kind, Change);

pub(super) fn calls(kind: Kind) -> Vec<Call> {
    let has = |change: &Change| match change {
        Change::Apply | Change::ApplyKnown => true,
        Change::ApplyTooMuch => kind != Kind::Ledger,
        Change::Cancel | Change::CancelKnown => kind.fences(),
    };
    let all = [Change::Apply, Change::ApplyKnown, Change::ApplyTooMuch, Change::Cancel, Change::CancelKnown];
    all.into_iter().filter(has).map(|change| Call(kind, change)).collect()
}

fn open(store: &Arc<dyn Backend>, kind: Kind, key: &str) -> Result<Subject> {
    let bounds = kind.bounds(Bounds::between(0, 10)?);
    Subject::open(store, kind.strategy(bounds, HOUR), bounds)?.at(key)
}

impl Call {
    /// Returns operations and the answers that they must get after this call.
    fn known_after(self, kind: Kind) -> Vec<(&'static str, Counted)> {
        // `ensure_done` applies each operation with a delta that exceeds the bounds.
        // A ledger has no bounds: it would apply an operation that it does not know.
        let known = ("known", Counted::Mismatch);
        match self.1 {
            // Only the last writer is known.
            Change::Apply if kind == Kind::Optimistic => vec![("op", Counted::Mismatch)],
            Change::Apply => vec![("op", Counted::Mismatch), known],
            Change::Cancel => vec![("op", Counted::Fenced), known],
            _ if kind == Kind::Ledger => vec![known],
            _ => vec![("op", Counted::OutOfBounds), known],
        }
    }
}

#[async_trait]
impl Repeatable for Call {
    /// The key of the counter, and the strategy of the namespace.
    type Scene = (String, Kind);

    async fn set(self, world: &World, place: &str) -> Result<Self::Scene, Failure> {
        let key = format!("key-{place}");
        let _ = open(world.store(), self.0, &key)?.apply("known", 5).await?;
        Ok((key, self.0))
    }

    fn needle((key, _): &Self::Scene) -> &str {
        key
    }

    fn is_known_again(self) -> bool {
        !self.0.forgets()
    }

    async fn make(self, (key, kind): &Self::Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        let counter = open(store, *kind, key)?;
        Ok(match self.1 {
            Change::Apply if !counter.tells_repeats() => done_if(&counter.attempt("op", 2).await?, &counter.applied(7)),
            Change::Apply => match counter.attempt("op", 2).await? {
                counted if counted == counter.applied(7) => Told::Now,
                counted if counted == counter.already(7) => Told::Before,
                other => Told::wrong(other),
            },
            Change::ApplyKnown => done_if(&counter.attempt("known", 5).await?, &counter.already(5)),
            Change::ApplyTooMuch => done_if(&counter.attempt("op", 6).await?, &Counted::OutOfBounds),
            Change::Cancel => done_if(&counter.attempt_cancel("op").await?, &Cancelled::Cancelled),
            Change::CancelKnown => done_if(&counter.attempt_cancel("known").await?, &counter.cancelled_too_late(5)),
        })
    }

    async fn is_done(self, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        let (key, kind) = scene;
        let value = open(store, *kind, key)?.value().await?;
        Ok((self.1 == Change::Apply).then_some(value == 7))
    }

    fn is_checked_by_a_change(self) -> bool {
        self.1 == Change::Cancel
    }

    /// Checks the value and the remembered operations, and changes neither.
    async fn ensure_done(self, _world: &World, scene: &Self::Scene, store: &Arc<dyn Backend>) -> Verdict {
        let (key, kind) = scene;
        let counter = open(store, *kind, key)?;
        let value = if self.1 == Change::Apply { 7 } else { 5 };
        ensure_eq!(counter.value().await?, value, "the value");
        for (op, expected) in self.known_after(*kind) {
            ensure_eq!(counter.apply(op, 100).await?, expected, "{op} with another delta");
        }
        ensure_eq!(counter.value().await?, value, "the value after that");
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let (old, fresh) = (open(old, self.0, place)?, open(fresh, self.0, place)?);
        let _ = old.apply_until_answered("op", 3).await?;
        ensure_eq!(fresh.value().await?, 3, "what the old client counted after that");
        Ok(())
    }
}

fn done_if<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Told {
    if found == expected { Told::Done } else { Told::wrong(found) }
}
