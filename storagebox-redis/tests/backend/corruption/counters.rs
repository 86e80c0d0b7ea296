//! Counters.

use storagebox_core::Result;
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::{Filling, Unnoticed, counters};

use super::{Part, stands_damage};
use crate::support::Place;

/// Damage to counters that no call notices: another lifetime of operations, another number, and data that is gone
/// without a trace.
const UNNOTICED: Unnoticed = &[
    ("", "keeps", &["empty", "half", "none"]),
    (":o", "field", &["none"]),
    (":v", "field", &["half", "none"]),
    ("", "sound", &["an unknown mark", "empty", "half", "none"]),
];

pub(super) const PART: Part = Part { tag: "c.namespace.0", fill, calls: counters::calls, unnoticed: UNNOTICED };

#[tokio::test]
async fn damaged_counters_are_corrupt_and_unchanged() -> Result<()> {
    stands_damage(&PART).await
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        counters::fill_first(store, name).await?;
        place.moved.advance(counters::LIFETIME / 2);
        counters::fill(store, name).await?;
        place.moved.advance(counters::LIFETIME / 2);
        Ok(())
    })
}
