//! What the strategies promise, and which numbers they take.

use std::fmt;
use std::time::Duration;

use storagebox_core::{Bounds, Change, CounterPromise, Error, Remember, Result, Retention, Strategy};

use super::entries::most_entries;
use super::keys::most_keys;
use crate::client::millis_of;
use crate::error::bad;

/// For how long DynamoDB knows a transaction's token again.
const TOKEN: Duration = Duration::from_secs(600);

/// A strategy whose numbers are checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    strategy: Strategy,
    /// Of the operations in its row a counter keeps the keys alone.
    keys_alone: bool,
}

impl Rules {
    pub(super) fn of(strategy: Strategy, keys_alone: bool) -> Result<Self> {
        let strategy = strategy.checked()?;
        let (field, asked, instead) = match strategy {
            Strategy::TokenSet { max } => ("max", max, "Marker with Retention::Forever"),
            Strategy::Window { capacity, .. } => ("capacity", capacity, "Marker, or Sharded"),
            _ => return Ok(Self { strategy, keys_alone: false }),
        };
        match keys_alone {
            true => fits(field, asked, most_keys(), instead)?,
            false => fits(field, asked, most_entries(), &format!("keys_alone, or {instead}"))?,
        }
        Ok(Self { strategy, keys_alone })
    }

    pub(super) fn ledger() -> Self {
        Self { strategy: Strategy::Ledger, keys_alone: false }
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
                Err(unsupported(what, "Ledger, which has a log"))
            }
            _ => Ok(()),
        }
    }

    /// The strategy as it is kept with the namespace. What stands in tables does not change.
    pub(super) fn in_words(&self) -> String {
        match self.strategy {
            Strategy::Atomic => "Atomic".to_owned(),
            Strategy::Optimistic => "Optimistic".to_owned(),
            Strategy::OptimisticHistory { len } => format!("OptimisticHistory of {len}"),
            Strategy::TransactionToken => "TransactionToken".to_owned(),
            Strategy::Marker { retention } => format!("Marker {}", kept(retention)),
            Strategy::Ledger => "Ledger".to_owned(),
            Strategy::TokenSet { max } => format!("TokenSet of {max}{}", self.form()),
            Strategy::Window { lifetime, capacity } => {
                format!("Window of {capacity} {}{}", kept(Retention::For(lifetime)), self.form())
            }
            Strategy::Sharded { shards, bounds, retention } => {
                let side = |bound: Option<i64>| bound.map_or("any".to_owned(), |bound| bound.to_string());
                let (floor, ceiling) = (side(bounds.floor()), side(bounds.ceiling()));
                format!("Sharded over {shards} from {floor} to {ceiling} {}", kept(retention))
            }
        }
    }

    fn form(&self) -> &'static str {
        if self.keys_alone { ", keys alone" } else { "" }
    }

    /// The sums of a ledger and of shards are no snapshots: their rows are read one after the other.
    pub(super) fn promise(&self) -> CounterPromise {
        let is_sum = matches!(self.strategy, Strategy::Ledger | Strategy::Sharded { .. });
        CounterPromise {
            remember: self.memory(),
            bounds_per_change: !is_sum,
            answers_value: self.answers_value(),
            tells_mismatch: self.strategy != Strategy::Atomic && !self.keys_alone,
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

    /// A transaction answers no values, a sum is not known when a change is made, and a key alone tells of none.
    fn answers_value(&self) -> bool {
        let knows = matches!(
            self.strategy,
            Strategy::Atomic
                | Strategy::Optimistic
                | Strategy::OptimisticHistory { .. }
                | Strategy::TokenSet { .. }
                | Strategy::Window { .. }
        );
        knows && !self.keys_alone
    }

    fn capacity(&self) -> Option<u32> {
        match self.strategy {
            Strategy::TokenSet { max } => Some(max),
            Strategy::Window { capacity, .. } => Some(capacity),
            _ => None,
        }
    }
}

/// The operations of a set and of a window are in one row, and a row has its limit.
fn fits(field: &'static str, asked: u32, most: u32, instead: &str) -> Result<()> {
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
        for (keys_alone, most) in [(false, most_entries()), (true, most_keys())] {
            for asked in [most, most + 1] {
                let refused = Rules::of(Strategy::Window { lifetime, capacity: asked }, keys_alone).err();
                let refused = refused.map(|error| (error.kind(), error.to_string()));
                assert_eq!(refused.is_some(), asked > most, "{asked}");
                if let Some((kind, message)) = refused {
                    assert_eq!(kind, ErrorKind::InvalidInput);
                    assert!(message.contains(&most.to_string()) && message.contains("Marker"), "{message}");
                    assert_eq!(message.contains("keys_alone"), !keys_alone, "{message}");
                }
            }
        }
        let set = |max| Rules::of(Strategy::TokenSet { max }, false);
        assert!(set(most_entries()).is_ok() && set(most_entries() + 1).is_err());
        assert!(Rules::of(Strategy::TokenSet { max: 10_000 }, true).is_ok());
    }

    /// "5 min * 60 seconds * 100 RPS = 30k keys"
    #[test]
    fn article_3s_window_of_30000_keys_is_taken() {
        let window = Strategy::Window { lifetime: Duration::from_secs(300), capacity: 30_000 };
        assert!(Rules::of(window, true).is_ok());
        assert!(Rules::of(window, false).is_err());
    }

    /// What a key alone does not tell is not promised.
    #[test]
    fn keys_alone_promise_neither_values_nor_mismatches() {
        let set = Strategy::TokenSet { max: 9 };
        let promised = |keys_alone| {
            let promise = Rules::of(set, keys_alone).unwrap().promise();
            (promise.answers_value, promise.tells_mismatch, promise.capacity)
        };
        assert_eq!((promised(false), promised(true)), ((true, true, Some(9)), (false, false, Some(9))));
        assert!(Rules::of(Strategy::default(), true).unwrap().promise().tells_mismatch);
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
            assert_eq!(Rules { strategy, keys_alone: false }.in_words(), words);
        }
        let alone = Rules { strategy: Strategy::TokenSet { max: 9 }, keys_alone: true };
        assert_eq!(alone.in_words(), "TokenSet of 9, keys alone");
    }
}
