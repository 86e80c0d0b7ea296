//! What the strategies promise, and which numbers they accept.

use std::fmt;
use std::time::Duration;

use storagebox_core::{Bounds, Change, CounterPromise, Error, Remember, Result, Retention, Strategy};

use super::entries::most_entries;
use crate::client::millis_of;
use crate::error::bad;

/// How long DynamoDB remembers the token of a transaction.
const TOKEN: Duration = Duration::from_secs(600);

#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    strategy: Strategy,
}

impl Rules {
    pub(super) fn of(strategy: Strategy) -> Result<Self> {
        let strategy = strategy.checked()?;
        match strategy {
            Strategy::TokenSet { max } => fits("max", max, "Marker with Retention::Forever")?,
            Strategy::Window { capacity, .. } => fits("capacity", capacity, "Marker, or Sharded")?,
            _ => {}
        }
        Ok(Self { strategy })
    }

    pub(super) fn ledger() -> Self {
        Self { strategy: Strategy::Ledger }
    }

    pub(super) fn check(&self, change: &Change) -> Result<()> {
        match self.strategy {
            Strategy::Sharded { bounds, .. } if ![Bounds::NONE, bounds].contains(&change.bounds) => {
                let why = format_args!("are fixed for the namespace: {bounds:?}, not {:?}", change.bounds);
                Err(bad("bounds", why))
            }
            Strategy::Ledger if change.bounds != Bounds::NONE => {
                Err(unsupported("a ledger with bounds", "the counter strategy Marker"))
            }
            Strategy::Ledger => Ok(()),
            strategy if change.reason.is_some() => {
                let what = format_args!("a change with a reason by the counter strategy {strategy:?}");
                Err(unsupported(what, "the strategy Ledger, which keeps a log"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the stored text of the strategy, which does not change between versions.
    pub(super) fn to_stored_text(self) -> String {
        match self.strategy {
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

    /// Returns what the strategy promises.
    pub(super) fn promise(&self) -> CounterPromise {
        // These strategies read several rows one after another, so their sums are not snapshots.
        let is_sum = matches!(self.strategy, Strategy::Ledger | Strategy::Sharded { .. });
        CounterPromise {
            remember: self.memory(),
            bounds_per_change: !is_sum,
            answers_value: self.answers_value(),
            tells_mismatch: self.strategy != Strategy::Atomic,
            snapshot: !is_sum,
            capacity: self.capacity(),
        }
    }

    fn memory(&self) -> Remember {
        match self.strategy {
            Strategy::Atomic => Remember::None,
            Strategy::Optimistic => Remember::Writers(1),
            Strategy::OptimisticHistory { len } => Remember::Writers(len),
            Strategy::TransactionToken => Remember::For(TOKEN),
            Strategy::Marker { retention } | Strategy::Sharded { retention, .. } => retention.into(),
            Strategy::Ledger | Strategy::TokenSet { .. } => Remember::Forever,
            Strategy::Window { lifetime, .. } => Remember::For(lifetime),
        }
    }

    /// Returns whether the outcome of a change contains the value of the counter.
    fn answers_value(&self) -> bool {
        matches!(
            self.strategy,
            Strategy::Atomic
                | Strategy::Optimistic
                | Strategy::OptimisticHistory { .. }
                | Strategy::TokenSet { .. }
                | Strategy::Window { .. }
        )
    }

    fn capacity(&self) -> Option<u32> {
        match self.strategy {
            Strategy::TokenSet { max } => Some(max),
            Strategy::Window { capacity, .. } => Some(capacity),
            _ => None,
        }
    }
}

/// Checks that the operations of a set or a window fit into one row.
fn fits(field: &'static str, asked: u32, instead: &str) -> Result<()> {
    let most = most_entries();
    if asked <= most {
        return Ok(());
    }
    let why = format_args!("must be at most {most}, not {asked}, because a row has at most 400 KB");
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
    fn a_set_or_window_over_400_kb_is_refused() {
        let (lifetime, most) = (Duration::from_secs(1), most_entries());
        let window = |capacity| Rules::of(Strategy::Window { lifetime, capacity });
        let set = |max| Rules::of(Strategy::TokenSet { max });
        assert!(window(most).is_ok() && set(most).is_ok());
        for error in [window(most + 1).unwrap_err(), set(most + 1).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let message = error.to_string();
            assert!(message.contains(&most.to_string()) && message.contains("use Marker"), "{message}");
        }
    }

    /// Article 3 calculates "5 min * 60 seconds * 100 RPS = 30k keys" for a row of 400 KB. An entry of a window is
    /// larger than a key, so fewer entries fit.
    #[test]
    fn a_window_of_thirty_thousand_keys_is_refused() {
        let window = Strategy::Window { lifetime: Duration::from_secs(300), capacity: 30_000 };
        let error = Rules::of(window).unwrap_err().to_string();
        assert!(error.contains("at most 5235") && error.contains("use Marker"), "{error}");
    }

    #[test]
    fn the_stored_text_of_a_strategy_does_not_change() {
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
            assert_eq!(Rules { strategy }.to_stored_text(), words);
        }
    }
}
