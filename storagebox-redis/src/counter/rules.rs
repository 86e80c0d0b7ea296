//! What the strategies differ in.

use storagebox_core::{Bounds, Change, CounterPromise, Error, Memory, Result, Retention, Strategy};

use crate::client::micros_of;

/// A strategy as the scripts take it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    strategy: Strategy,
    /// How long operations are remembered; `None` for not at all.
    memory: Option<Retention>,
    /// How many of them at once.
    capacity: Option<u32>,
    /// How many shards were asked for, and the bounds of the total. They are one record: a script has one thread anyway.
    split: Option<(u16, Bounds)>,
}

impl Rules {
    pub(super) fn of(strategy: Strategy) -> Result<Self> {
        let strategy = strategy.checked()?;
        let whole = Self { strategy, memory: None, capacity: None, split: None };
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
                Err(unsupported(strategy, "Marker, which is exact for its whole retention"))
            }
            Strategy::Ledger => Err(unsupported(strategy, "Marker with Retention::Forever")),
            Strategy::TokenSet { .. } => {
                Err(unsupported(strategy, "Window, or Marker with Retention::Forever"))
            }
        }
    }

    pub(super) fn remembers(&self) -> bool {
        self.memory.is_some()
    }

    /// How long, in microseconds; none is for ever.
    pub(super) fn keeps(&self) -> Option<u64> {
        self.memory.and_then(micros_of)
    }

    pub(super) fn capacity(&self) -> Option<u32> {
        self.capacity
    }

    pub(super) fn answers_value(&self) -> bool {
        self.split.is_none()
    }

    /// What the result must be within.
    pub(super) fn bounds(&self, change: &Change) -> Bounds {
        self.split.map_or(change.bounds, |(_, fixed)| fixed)
    }

    pub(super) fn check(&self, change: &Change) -> Result<()> {
        match self.split {
            Some((_, fixed)) if ![Bounds::NONE, fixed].contains(&change.bounds) => {
                let why = format_args!("are fixed for the box: {fixed:?}, not {:?}", change.bounds);
                Err(Error::invalid("bounds", why).on("redis"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_cancel(&self) -> Result<()> {
        match self.memory {
            Some(_) => Ok(()),
            None => Err(unsupported(self.strategy, "Marker, which remembers operations")),
        }
    }

    /// The strategy as it is kept with the box. What is kept does not change.
    pub(super) fn in_words(&self) -> String {
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

    pub(super) fn promise(&self) -> CounterPromise {
        CounterPromise {
            memory: self.memory.map_or(Memory::None, Memory::from),
            bounds_per_change: self.split.is_none(),
            answers_value: self.answers_value(),
            snapshot: true,
            capacity: self.capacity,
        }
    }
}

fn unsupported(strategy: Strategy, instead: &str) -> Error {
    Error::unsupported(format_args!("the counter strategy {strategy:?}"), instead).on("redis")
}
