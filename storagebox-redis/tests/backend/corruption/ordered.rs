//! Ordered values.

use storagebox_core::Result;
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::{Filling, Unnoticed, ordered};

use super::{Part, stands_damage};
use crate::support::Place;

/// Damage to ordered values that no call notices: a missing expiry, any value, another time or writer, and data that is
/// gone without a trace.
const UNNOTICED: Unnoticed = &[
    ("", "keeps", &["empty", "half", "none"]),
    (":o", "r", &["half"]),
    (":o", "v", &["an unknown mark", "empty", "half"]),
    (":o", "w", &["half"]),
    (":t", "", &["no first member"]),
    (":x", "", &["no first member"]),
    ("", "sound", &["an unknown mark", "empty", "half", "none"]),
];

pub(super) const PART: Part = Part {
    tag: "o.namespace.0",
    fill,
    calls: |store, name| ordered::calls(store, name, &["VALUE", "DELETED", "NEW"]),
    unnoticed: UNNOTICED,
};

#[tokio::test]
async fn damaged_ordered_values_are_corrupt_and_unchanged() -> Result<()> {
    stands_damage(&PART).await
}

fn fill<'a>(place: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        ordered::fill(store, name).await?;
        place.moved.advance(2 * ordered::KEPT);
        Ok(())
    })
}
