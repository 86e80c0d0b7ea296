//! Counters, with each strategy that has rows of its own kind.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, Change, Key, OpId, Result, Retention, Strategy};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, call};

use super::Part;
use crate::support::Place;

const HOUR: Duration = Duration::from_secs(3_600);

/// Damage to a marker that no call can notice: a missing delta, which makes the marker a cancellation, or damage to the
/// end of the retention or to the tag of the call.
const MARKERS: Unnoticed = &[
    ("op", "d", &["none"]),
    ("op", "g", &["a text", "beyond its range", "no whole number", "none"]),
    ("op", "t", &["a number", "empty", "none", "unknown"]),
];

macro_rules! part {
    ($name:ident, $module:ident, $strategy:expr, $unnoticed:expr) => {
        pub(super) const $name: Part =
            Part { rows: "counters", fill: $module::fill, calls: $module::calls, unnoticed: $unnoticed };

        mod $module {
            use super::*;

            const STRATEGY: Strategy = $strategy;

            pub(super) fn fill<'a>(_: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
                Box::pin(super::fill(store, name, STRATEGY))
            }

            pub(super) fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
                super::calls(store, name, STRATEGY)
            }
        }
    };
}

part!(MARKER, marker, Strategy::Marker { retention: Retention::For(HOUR) }, MARKERS);
part!(SET, set, Strategy::Window { lifetime: HOUR, capacity: 9 }, &[]);
part!(OPTIMISTIC, optimistic, Strategy::OptimisticHistory { len: 3 }, &[]);
part!(
    SHARDED,
    sharded,
    Strategy::Sharded { shards: 2, bounds: Bounds::NONE, retention: Retention::For(HOUR) },
    MARKERS
);

pub(super) const LEDGER: Part = Part {
    rows: "counters",
    fill: fill_ledger,
    calls: calls_of_ledger,
    unnoticed: &[
        ("log", "c", &["empty", "unknown"]),
        ("log", "d", &["none"]),
        ("log", "o", &["none"]),
        ("log sum", "t", &["a number", "empty", "none", "unknown"]),
    ],
};

fn change(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(OpId::new(op)?, delta))
}

fn has_fences(strategy: Strategy) -> bool {
    !matches!(strategy, Strategy::OptimisticHistory { .. })
}

async fn fill(store: &DynamoStore, name: &str, strategy: Strategy) -> Result<()> {
    let (counters, key) = (store.counter(&name.parse()?, strategy)?, Key::new("KEY")?);
    for op in ["APPLIED", "OTHER"] {
        let _ = counters.apply(&key, &change(op, 7)?).await?;
    }
    if has_fences(strategy) {
        let _ = counters.cancel(&key, &OpId::new("CANCELLED")?).await?;
    }
    Ok(())
}

fn calls(store: &dyn Backend, name: &str, strategy: Strategy) -> Result<Vec<Call>> {
    let (counters, key) = (store.counter(&name.parse()?, strategy)?, Key::new("KEY")?);
    let mut calls = vec![call!("value", [counters, key], counters.value(&key))];
    for op in ["APPLIED", "OTHER", "CANCELLED", "NEW"] {
        let (change, other, name) = (change(op, 7)?, change(op, 8)?, OpId::new(op)?);
        calls.push(call!(format!("apply {op}"), [counters, key, change], counters.apply(&key, &change)));
        calls.push(call!(format!("apply another {op}"), [counters, key, other], counters.apply(&key, &other)));
        if has_fences(strategy) {
            calls.push(call!(format!("cancel {op}"), [counters, key, name], counters.cancel(&key, &name)));
        }
    }
    Ok(calls)
}

fn fill_ledger<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let (ledger, key) = (store.ledger(&name.parse()?)?, Key::new("KEY")?);
        let _ = ledger.apply(&key, &change("OLD", 7)?).await?;
        place.clock.advance(2 * HOUR);
        ledger.compact(&key, HOUR, 10).await?;
        let _ = ledger.apply(&key, &change("APPLIED", 7)?).await?;
        let _ = ledger.cancel(&key, &OpId::new("CANCELLED")?).await?;
        Ok(())
    })
}

fn calls_of_ledger(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let (ledger, key) = (store.ledger(&name.parse()?)?, Key::new("KEY")?);
    let mut calls = vec![
        call!("value", [ledger, key], ledger.value(&key)),
        call!("log", [ledger, key], ledger.log(&key, None, 100)),
        call!("compact", [ledger, key], ledger.compact(&key, Duration::ZERO, 10)),
    ];
    for op in ["APPLIED", "CANCELLED", "NEW"] {
        let (change, name) = (change(op, 7)?, OpId::new(op)?);
        calls.push(call!(format!("apply {op}"), [ledger, key, change], ledger.apply(&key, &change)));
        calls.push(call!(format!("cancel {op}"), [ledger, key, name], ledger.cancel(&key, &name)));
    }
    Ok(calls)
}
