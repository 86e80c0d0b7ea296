//! What the counter strategies differ in, for stores that have four of them.

use crate::backend::micros_of;
use crate::counter::{Bounds, Change};
use crate::error::{Error, Result};
use crate::strategy::{CounterPromise, Memory, Strategy};
use crate::time::Retention;

/// The rules of `Atomic`, `Marker`, `Window` or `Sharded`, the strategies of a store whose every step is atomic. The
/// others work around stores that have no such step.
#[derive(Clone, Copy, Debug)]
pub struct CounterRules {
    backend: &'static str,
    strategy: Strategy,
    /// How long operations are remembered; `None` for not at all.
    memory: Option<Retention>,
    /// How many of them at once.
    capacity: Option<u32>,
    /// How many shards were asked for, and the bounds of the total.
    split: Option<(u16, Bounds)>,
}

impl CounterRules {
    /// The rules of a strategy, on the backend of this name.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for one that is out of its range; `Unsupported` for any other, with what to use instead.
    pub fn of(backend: &'static str, strategy: Strategy) -> Result<Self> {
        let strategy = strategy.checked()?;
        let whole = Self { backend, strategy, memory: None, capacity: None, split: None };
        match strategy {
            Strategy::Atomic => Ok(whole),
            Strategy::Marker { retention } => Ok(Self { memory: Some(retention), ..whole }),
            Strategy::Window { lifetime, capacity } => {
                Ok(Self { memory: Some(Retention::For(lifetime)), capacity: Some(capacity), ..whole })
            }
            Strategy::Sharded { shards, bounds, retention } => {
                Ok(Self { memory: Some(retention), split: Some((shards, bounds)), ..whole })
            }
            Strategy::Optimistic | Strategy::OptimisticHistory { .. } | Strategy::TransactionToken => {
                Err(whole.unsupported("Marker, which is exact for its whole retention"))
            }
            Strategy::Ledger => Err(whole.unsupported("Marker with Retention::Forever")),
            Strategy::TokenSet { .. } => Err(whole.unsupported("Window, or Marker with Retention::Forever")),
        }
    }

    /// Whether operations are remembered at all.
    pub fn remembers(&self) -> bool {
        self.memory.is_some()
    }

    /// How long they are remembered, in microseconds; `None` is for ever.
    pub fn keeps(&self) -> Option<i64> {
        self.memory.and_then(micros_of)
    }

    /// How many are remembered at once.
    pub fn capacity(&self) -> Option<u32> {
        self.capacity
    }

    /// Over how many shards the value may be split.
    pub fn shards(&self) -> u16 {
        self.split.map_or(1, |(shards, _)| shards)
    }

    /// The bounds that are fixed for the box, where they are.
    pub fn fixed_bounds(&self) -> Bounds {
        self.split.map_or(Bounds::NONE, |(_, fixed)| fixed)
    }

    /// Whether a change is told the value.
    pub fn answers_value(&self) -> bool {
        self.split.is_none()
    }

    /// What the result of a change must be within.
    pub fn bounds(&self, change: &Change) -> Bounds {
        self.split.map_or(change.bounds, |(_, fixed)| fixed)
    }

    /// Whether the change may have the bounds that it has.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for other bounds than those of the box, where they are fixed; `Unsupported` for a reason, because none
    /// of these strategies has a log to show it.
    pub fn check(&self, change: &Change) -> Result<()> {
        if change.reason.is_some() {
            return Err(self.no_reasons());
        }
        match self.split {
            Some((_, fixed)) if ![Bounds::NONE, fixed].contains(&change.bounds) => {
                let why = format_args!("are fixed for the box: {fixed:?}, not {:?}", change.bounds);
                Err(Error::invalid("bounds", why).on(self.backend))
            }
            _ => Ok(()),
        }
    }

    /// Whether operations can be fenced.
    ///
    /// # Errors
    ///
    /// `Unsupported` where none is remembered.
    pub fn check_cancel(&self) -> Result<()> {
        match self.memory {
            Some(_) => Ok(()),
            None => Err(self.unsupported("Marker, which remembers operations")),
        }
    }

    /// The strategy as it is kept with the box. What is kept does not change.
    pub fn in_words(&self) -> String {
        let kept = self.keeps().map_or("for ever".to_owned(), |micros| format!("for {micros} us"));
        match (self.strategy, self.split, self.capacity) {
            (_, Some((shards, bounds)), _) => {
                let side = |bound: Option<i64>| bound.map_or("any".to_owned(), |bound| bound.to_string());
                let (floor, ceiling) = (side(bounds.floor()), side(bounds.ceiling()));
                format!("Sharded over {shards} from {floor} to {ceiling} {kept}")
            }
            (_, _, Some(capacity)) => format!("Window of {capacity} {kept}"),
            (Strategy::Atomic, ..) => "Atomic".to_owned(),
            _ => format!("Marker {kept}"),
        }
    }

    /// What the strategy guarantees.
    pub fn promise(&self) -> CounterPromise {
        CounterPromise {
            memory: self.memory.map_or(Memory::None, Memory::from),
            bounds_per_change: self.split.is_none(),
            answers_value: self.answers_value(),
            tells_mismatch: self.remembers(),
            snapshot: true,
            capacity: self.capacity,
        }
    }

    fn no_reasons(&self) -> Error {
        let what = format_args!("a change with a reason by the counter strategy {:?}", self.strategy);
        Error::unsupported(what, "Ledger, which has a log, where the backend has it").on(self.backend)
    }

    fn unsupported(&self, instead: &str) -> Error {
        let what = format_args!("the counter strategy {:?}", self.strategy);
        Error::unsupported(what, instead).on(self.backend)
    }
}
