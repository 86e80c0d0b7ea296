//! Well-formed rows with contents that the library never writes.

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{ErrorKind, Result};
use storagebox_testkit::checks::corruption::Call;

use super::counters::{LEDGER, OPTIMISTIC, SHARDED};
use super::damage::snapshot;
use super::{NAMESPACE, entities, ordered, put, records};
use crate::scene::with_place;
use crate::support::Place;

/// One byte more than the longest id.
const TOO_LONG: usize = 513;

/// Copies every row whose partition key contains `part` to a sort key that is too long for an id.
async fn copy_under_no_id(place: &Place, part: &str) -> Result<()> {
    for ((partition, _), mut row) in snapshot(place).await? {
        if partition.contains(part) {
            row.insert("sk".to_owned(), AttributeValue::S("x".repeat(TOO_LONG)));
            put(place, row).await?;
        }
    }
    Ok(())
}

#[test]
fn a_listing_returns_corrupt_for_a_row_without_a_valid_id() -> Result<()> {
    for (part, rows) in [(ordered::PART, ":keys:"), (records::PART, ":ids:")] {
        with_place(async |place| {
            let store = place.store().await?;
            (part.fill)(place, &store, NAMESPACE).await?;
            copy_under_no_id(place, rows).await?;
            let calls = (part.calls)(&store, NAMESPACE)?;
            let list = calls.iter().find(|call| call.name == "list").unwrap();
            assert_eq!(list.make().await.unwrap_err().kind(), ErrorKind::Corrupt, "{rows}");
            Ok(())
        })?;
    }
    Ok(())
}

/// The row has the largest possible count of writes, so another write would overflow it.
#[test]
fn a_call_on_a_count_at_its_maximum_returns_corrupt() -> Result<()> {
    for (part, names) in
        [(&SHARDED, ["n"].as_slice()), (&OPTIMISTIC, &["n"]), (&LEDGER, &["n", "k", "m"]), (&entities::PART, &["n"])]
    {
        with_place(async |place| {
            let store = place.store().await?;
            (part.fill)(place, &store, NAMESPACE).await?;
            let calls = (part.calls)(&store, NAMESPACE)?;
            for name in names {
                assert!(meets_the_end_of(place, name, &calls).await?, "{name} of {}", part.rows);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Sets the counts in all rows to their maximum, and makes the calls. Returns whether a call returned `Corrupt`.
async fn meets_the_end_of(place: &Place, name: &str, calls: &[Call]) -> Result<bool> {
    for (_, mut row) in snapshot(place).await?.into_iter().filter(|(_, row)| row.contains_key(name)) {
        row.insert(name.to_owned(), AttributeValue::N(i64::MAX.to_string()));
        put(place, row).await?;
    }
    let mut is_met = false;
    for call in calls {
        if let Err(error) = call.make().await {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{}: {error}", call.name);
            is_met = true;
        }
    }
    Ok(is_met)
}
