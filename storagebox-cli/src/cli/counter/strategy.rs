//! Parses a strategy: its name, and its numbers after colons.

use std::num::ParseIntError;
use std::ops::Deref;
use std::str::FromStr;

use storagebox::counters::Bounds;
use storagebox::{Error, Strategy};

use super::super::duration::{NoDuration, any, retention};

#[derive(Debug, thiserror::Error)]
pub(super) enum NoStrategy {
    #[error("there is no such strategy; --help lists them")]
    Unknown,
    #[error(transparent)]
    Duration(#[from] NoDuration),
    #[error("a whole number was expected: {0}")]
    Number(#[from] ParseIntError),
    #[error("bounds are written FLOOR..CEILING")]
    Bounds,
    #[error("{}", .0.message())]
    Refused(#[from] Error),
}

pub(super) fn strategy(text: &str) -> Result<Strategy, NoStrategy> {
    let words: Vec<_> = text.splitn(4, ':').collect();
    let strategy = match *words.deref() {
        ["atomic"] => Strategy::Atomic,
        ["optimistic"] => Strategy::Optimistic,
        ["history", len] => Strategy::OptimisticHistory { len: len.parse()? },
        ["request-token"] => Strategy::TransactionToken,
        ["marker"] => Strategy::default(),
        ["marker", keep] => Strategy::Marker { retention: retention(keep)? },
        ["ledger"] => Strategy::Ledger,
        ["token-set", max] => Strategy::TokenSet { max: max.parse()? },
        ["window", keep, capacity] => Strategy::Window { lifetime: any(keep)?, capacity: capacity.parse()? },
        ["sharded", shards, keep] => sharded(shards, keep, Bounds::NONE)?,
        ["sharded", shards, keep, within] => sharded(shards, keep, bounds(within)?)?,
        _ => return Err(NoStrategy::Unknown),
    };
    Ok(strategy.checked()?)
}

fn sharded(shards: &str, keep: &str, bounds: Bounds) -> Result<Strategy, NoStrategy> {
    Ok(Strategy::Sharded { shards: shards.parse()?, bounds, retention: retention(keep)? })
}

fn bounds(text: &str) -> Result<Bounds, NoStrategy> {
    let (floor, ceiling) = text.split_once("..").ok_or(NoStrategy::Bounds)?;
    Ok(match (bound(floor)?, bound(ceiling)?) {
        (None, None) => Bounds::NONE,
        (Some(floor), None) => Bounds::at_least(floor),
        (None, Some(ceiling)) => Bounds::at_most(ceiling),
        (Some(floor), Some(ceiling)) => Bounds::between(floor, ceiling)?,
    })
}

fn bound(text: &str) -> Result<Option<i64>, ParseIntError> {
    (!text.is_empty()).then(|| i64::from_str(text)).transpose()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use storagebox::Retention;

    use super::*;

    const WEEK: Retention = Retention::For(Duration::from_secs(7 * 24 * 3600));

    #[test]
    fn every_strategy_is_parsed() {
        for (text, expected) in [
            ("atomic", Strategy::Atomic),
            ("optimistic", Strategy::Optimistic),
            ("history:10", Strategy::OptimisticHistory { len: 10 }),
            ("request-token", Strategy::TransactionToken),
            ("marker", Strategy::default()),
            ("marker:forever", Strategy::Marker { retention: Retention::Forever }),
            ("ledger", Strategy::Ledger),
            ("token-set:5", Strategy::TokenSet { max: 5 }),
            ("window:1h:100", Strategy::Window { lifetime: Duration::from_secs(3600), capacity: 100 }),
            ("sharded:8:7d", Strategy::Sharded { shards: 8, bounds: Bounds::NONE, retention: WEEK }),
            ("sharded:8:7d:0..", Strategy::Sharded { shards: 8, bounds: Bounds::at_least(0), retention: WEEK }),
            (
                "sharded:8:7d:-5..10",
                Strategy::Sharded { shards: 8, bounds: Bounds::between(-5, 10).unwrap(), retention: WEEK },
            ),
        ] {
            assert_eq!(strategy(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn an_invalid_strategy_is_refused() {
        for text in [
            "",
            "Atomic",
            "atomic:1",
            "history",
            "history:0",
            "history:-1",
            "marker:soon",
            "marker:0s",
            "window:1h",
            "window:1h:0",
            "sharded:0:7d",
            "sharded:8:7d:5..",
            "sharded:8:7d:9..1",
            "sharded:8:7d:1",
            "sharded:8:7d:0..:",
        ] {
            assert!(strategy(text).is_err(), "{text}");
        }
    }
}
