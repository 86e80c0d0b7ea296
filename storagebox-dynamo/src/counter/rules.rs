//! What the strategies promise, and which numbers they take.

use std::fmt;
use std::time::Duration;

use storagebox_core::{Bounds, Change, CounterPromise, Error, Memory, Result, Retention, Strategy};

use super::entries::most_entries;
use crate::client::millis_of;
use crate::error::bad;

/// For how long DynamoDB knows a transaction's token again.
const TOKEN: Duration = Duration::from_secs(600);

/// A strategy whose numbers are checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules(Strategy);

impl Rules {
    pub(super) fn of(strategy: Strategy) -> Result<Self> {
        let strategy = strategy.checked()?;
        match strategy {
            Strategy::TokenSet { max } => fits("max", max, "Marker with Retention::Forever")?,
            Strategy::Window { capacity, .. } => fits("capacity", capacity, "Marker, or Sharded")?,
            _ => {}
        }
        Ok(Self(strategy))
    }

    pub(super) fn ledger() -> Self {
        Self(Strategy::Ledger)
    }

    pub(super) fn check(&self, change: &Change) -> Result<()> {
        match self.0 {
            Strategy::Sharded { bounds, .. } if ![Bounds::NONE, bounds].contains(&change.bounds) => {
                let why = format_args!("are fixed for the box: {bounds:?}, not {:?}", change.bounds);
                Err(bad("bounds", why))
            }
            Strategy::Ledger if change.bounds != Bounds::NONE => {
                Err(unsupported("a ledger with bounds", "the counter strategy Marker"))
            }
            Strategy::Ledger => Ok(()),
            strategy if change.reason.is_some() => {
                let what = format_args!("a change with a reason by the counter strategy {strategy:?}");
                Err(unsupported(what, "Ledger, which has a log"))
            }
            _ => Ok(()),
        }
    }

    /// The strategy as it is kept with the box. What stands in tables does not change.
    pub(super) fn in_words(&self) -> String {
        match self.0 {
            Strategy::Atomic => "Atomic".to_owned(),
            Strategy::Optimistic => "Optimistic".to_owned(),
            Strategy::OptimisticHistory { len } => format!("OptimisticHistory of {len}"),
            Strategy::TransactionToken => "TransactionToken".to_owned(),
            Strategy::Marker { retention } => format!("Marker {}", kept(retention)),
            Strategy::Ledger => "Ledger".to_owned(),
            Strategy::TokenSet { max } => format!("TokenSet of {max}"),
            Strategy::Window { lifetime, capacity } => {
                format!("Window of {capacity} {}", kept(Retention::For(lifetime)))
            }
            Strategy::Sharded { shards, bounds, retention } => {
                let side = |bound: Option<i64>| bound.map_or("any".to_owned(), |bound| bound.to_string());
                let (floor, ceiling) = (side(bounds.floor()), side(bounds.ceiling()));
                format!("Sharded over {shards} from {floor} to {ceiling} {}", kept(retention))
            }
        }
    }

    /// The sums of a ledger and of shards are no snapshots: their rows are read one after the other.
    pub(super) fn promise(&self) -> CounterPromise {
        let is_sum = matches!(self.0, Strategy::Ledger | Strategy::Sharded { .. });
        CounterPromise {
            memory: self.memory(),
            bounds_per_change: !is_sum,
            answers_value: self.answers_value(),
            snapshot: !is_sum,
            capacity: self.capacity(),
        }
    }

    fn memory(&self) -> Memory {
        match self.0 {
            Strategy::Atomic => Memory::None,
            Strategy::Optimistic => Memory::Writers(1),
            Strategy::OptimisticHistory { len } => Memory::Writers(len),
            Strategy::TransactionToken => Memory::For(TOKEN),
            Strategy::Marker { retention } | Strategy::Sharded { retention, .. } => retention.into(),
            Strategy::Ledger | Strategy::TokenSet { .. } => Memory::Forever,
            Strategy::Window { lifetime, .. } => Memory::For(lifetime),
        }
    }

    /// A transaction answers no values, and a sum is not known when a change is made.
    fn answers_value(&self) -> bool {
        matches!(
            self.0,
            Strategy::Atomic
                | Strategy::Optimistic
                | Strategy::OptimisticHistory { .. }
                | Strategy::TokenSet { .. }
                | Strategy::Window { .. }
        )
    }

    fn capacity(&self) -> Option<u32> {
        match self.0 {
            Strategy::TokenSet { max } => Some(max),
            Strategy::Window { capacity, .. } => Some(capacity),
            _ => None,
        }
    }
}

/// The operations of a set and of a window are in one row, and a row has its limit.
fn fits(field: &'static str, asked: u32, instead: &str) -> Result<()> {
    let most = most_entries();
    if asked <= most {
        return Ok(());
    }
    let why = format_args!("must be at most {most}, which is what a row of 400 KB holds, not {asked}");
    Err(bad(field, format_args!("{why}; for more use {instead}")).with("limit", most))
}

fn kept(retention: Retention) -> String {
    millis_of(retention).map_or("for ever".to_owned(), |millis| format!("for {millis} ms"))
}

pub(super) fn unsupported(what: impl fmt::Display, instead: &str) -> Error {
    Error::unsupported(what, instead).on("dynamo")
}

#[cfg(test)]
mod tests {
    use storagebox_core::ErrorKind;

    use super::*;

    #[test]
    fn what_would_pass_400_kb_is_refused() {
        let lifetime = Duration::from_secs(1);
        let most = most_entries();
        for asked in [most, most + 1] {
            for strategy in
                [Strategy::TokenSet { max: asked }, Strategy::Window { lifetime, capacity: asked }]
            {
                let refused = Rules::of(strategy).err().map(|error| (error.kind(), error.to_string()));
                assert_eq!(refused.is_some(), asked > most, "{strategy:?}");
                if let Some((kind, message)) = refused {
                    assert_eq!(kind, ErrorKind::InvalidInput);
                    assert!(message.contains(&most.to_string()) && message.contains("Marker"), "{message}");
                }
            }
        }
    }

    #[test]
    fn what_stands_in_tables_does_not_change() {
        let second = Retention::For(Duration::from_secs(1));
        let rows = [
            (Strategy::OptimisticHistory { len: 3 }, "OptimisticHistory of 3"),
            (Strategy::Marker { retention: Retention::Forever }, "Marker for ever"),
            (Strategy::Marker { retention: second }, "Marker for 1000 ms"),
            (Strategy::TokenSet { max: 9 }, "TokenSet of 9"),
            (Strategy::Window { lifetime: Duration::from_millis(1), capacity: 2 }, "Window of 2 for 1 ms"),
            (
                Strategy::Sharded { shards: 5, bounds: Bounds::at_least(-1), retention: second },
                "Sharded over 5 from -1 to any for 1000 ms",
            ),
        ];
        for (strategy, words) in rows {
            assert_eq!(Rules(strategy).in_words(), words);
        }
    }
}
