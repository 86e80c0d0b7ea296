//! How the counter strategies differ, for stores that have four of them.

use crate::backend::micros_of;
use crate::contract::counter::{Bounds, Change};
use crate::contract::strategy::{CounterPromise, Remember, Strategy};
use crate::values::error::{Error, Result};
use crate::values::time::Retention;

/// The rules of `Atomic`, `Marker`, `Window` or `Sharded`: the strategies of a store whose every step is atomic. The
/// other strategies work around stores without such a step.
#[derive(Clone, Copy, Debug)]
pub struct CounterRules {
    backend: &'static str,
    strategy: Strategy,
    /// How long operations are remembered, or `None` if they are not remembered.
    memory: Option<Retention>,
    /// The maximum number of remembered operations, or `None` for no limit.
    capacity: Option<u32>,
    /// The requested number of shards and the bounds of the total, or `None` if the counter is not sharded.
    split: Option<(u16, Bounds)>,
}

impl CounterRules {
    /// Creates the rules of a strategy for the backend with this name.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if a number of the strategy is out of its range; `Unsupported` for any other strategy, with the
    /// strategy to use instead.
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

    /// Returns whether operations are remembered at all.
    pub fn remembers(&self) -> bool {
        self.memory.is_some()
    }

    /// Returns how long operations are remembered, in microseconds; `None` means for ever.
    pub fn keeps(&self) -> Option<i64> {
        self.memory.and_then(micros_of)
    }

    /// Returns how many operations are remembered at once.
    pub fn capacity(&self) -> Option<u32> {
        self.capacity
    }

    /// Returns the number of shards that the value may be split over.
    pub fn shards(&self) -> u16 {
        self.split.map_or(1, |(shards, _)| shards)
    }

    /// Returns the bounds that are fixed for the namespace, if it has fixed bounds.
    pub fn fixed_bounds(&self) -> Bounds {
        self.split.map_or(Bounds::NONE, |(_, fixed)| fixed)
    }

    /// Returns whether a change returns the value.
    pub fn answers_value(&self) -> bool {
        self.split.is_none()
    }

    /// Returns the bounds for the result of a change.
    pub fn bounds(&self, change: &Change) -> Bounds {
        self.split.map_or(change.bounds, |(_, fixed)| fixed)
    }

    /// Checks that the change may have its bounds.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the namespace has fixed bounds and the change has others; `Unsupported` for a reason, because
    /// none of these strategies has a log to show it.
    pub fn check(&self, change: &Change) -> Result<()> {
        if change.reason.is_some() {
            return Err(self.no_reasons());
        }
        match self.split {
            Some((_, fixed)) if ![Bounds::NONE, fixed].contains(&change.bounds) => {
                let why = format_args!("are fixed for the namespace: {fixed:?}, not {:?}", change.bounds);
                Err(Error::invalid("bounds", why).on(self.backend))
            }
            _ => Ok(()),
        }
    }

    /// Checks that operations can be fenced.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the strategy remembers no operations.
    pub fn check_cancel(&self) -> Result<()> {
        match self.memory {
            Some(_) => Ok(()),
            None => Err(self.unsupported("Marker, which remembers operations")),
        }
    }

    /// Returns the strategy as it is stored with the namespace. The stored text does not change.
    pub fn to_stored_text(&self) -> String {
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

    /// Returns what the strategy guarantees.
    pub fn promise(&self) -> CounterPromise {
        CounterPromise {
            remember: self.memory.map_or(Remember::None, Remember::from),
            bounds_per_change: self.split.is_none(),
            answers_value: self.answers_value(),
            tells_mismatch: self.remembers(),
            snapshot: true,
            capacity: self.capacity,
        }
    }

    fn no_reasons(&self) -> Error {
        let what = format_args!("a change with a reason under the counter strategy {:?}", self.strategy);
        Error::unsupported(what, "the strategy Ledger, which keeps a log, if the backend has Ledger").on(self.backend)
    }

    fn unsupported(&self, instead: &str) -> Error {
        let what = format_args!("the counter strategy {:?}", self.strategy);
        Error::unsupported(what, instead).on(self.backend)
    }
}
