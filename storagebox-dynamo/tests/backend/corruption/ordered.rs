//! Ordered values.

use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::{Filling, ordered};

use super::Part;
use crate::support::Place;

pub(super) const PART: Part = Part {
    rows: "ordered",
    fill,
    calls: |store, name| ordered::calls(store, name, &["VALUE", "DELETED"]),
    unnoticed: &[
        ("keys", "o", &["none", "unknown"]),
        ("keys", "t", &["a number", "empty", "none", "unknown"]),
        ("keys", "v", &["cut off", "none"]),
        ("keys", "w", &["unknown"]),
    ],
};

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        ordered::fill(store, name).await?;
        place.clock.advance(2 * ordered::KEPT);
        Ok(())
    })
}
