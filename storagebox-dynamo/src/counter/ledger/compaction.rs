//! Compaction: adds old entries to the sum. One write adds their deltas and their names to the sum; then their rows are
//! deleted; then the names are removed. A compaction that finds names in the sum first finishes the compaction that
//! left them there.

use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::{Key, Maintained, Result};

use super::DynamoLedger;
use super::rows::{Sum, sum_key, time};
use crate::client::{Index, Query, Tag, Write, Wrote};
use crate::clock::Millis;
use crate::error::contention;
use crate::row::{Row, RowKey};

/// The largest number of entries that one write adds to the sum.
const BATCH: usize = 100;
const AT_ONCE: usize = 16;

pub(super) async fn compact(ledger: &DynamoLedger, key: &Key, horizon: Millis, limit: usize) -> Result<Maintained> {
    let mut merged = 0;
    while merged < limit {
        let (tag, most) = (&Tag::fresh(), BATCH.min(limit - merged));
        let batch = || merge(ledger, key, horizon, most, tag);
        let taken = ledger.client().settle("compact", batch).await?;
        merged += usize::try_from(taken).unwrap_or(usize::MAX);
        if taken == 0 {
            return Ok(Maintained { deleted: merged as u64, more: false });
        }
    }
    let left = || old_entries(ledger, key, horizon, 1);
    let more = !ledger.client().settle("compact", left).await?.is_empty();
    Ok(Maintained { deleted: merged as u64, more })
}

/// Merges one batch of old entries into the sum, and returns the number of these entries.
async fn merge(ledger: &DynamoLedger, key: &Key, horizon: Millis, most: usize, tag: &Tag) -> Result<u64> {
    ledger.values.ready().await?;
    let sum = ledger.sum(key).await?;
    // If so, an earlier attempt of this call has merged the batch.
    let is_ours = sum.tag.as_deref() == Some(tag.as_str());
    let sum = finished(ledger, key, sum).await?;
    if is_ours {
        return Ok(sum.taken);
    }
    let rows = old_entries(ledger, key, horizon, most).await?;
    let next = grown(sum, &rows)?;
    if next.taken == 0 {
        return Ok(0);
    }
    let write = next.write(&sum_key(ledger.partition(key)), tag);
    match ledger.client().write(&write).await? {
        Wrote::Done(_) => Ok(finished(ledger, key, next).await?.taken),
        Wrote::Refused(_) => Err(contention()),
    }
}

/// Adds to the sum as many of the entries as fit without an overflow.
fn grown(sum: Sum, rows: &[Row]) -> Result<Sum> {
    let mut grown = Sum { writes: sum.writes + 1, taken: 0, ..sum };
    for row in rows {
        match grown.clone().with(row)? {
            Some(with) => grown = with,
            None => break,
        }
    }
    Ok(grown)
}

/// Reads at most `most` entries up to the horizon, the oldest first.
async fn old_entries(ledger: &DynamoLedger, key: &Key, horizon: Millis, most: usize) -> Result<Vec<Row>> {
    let younger = time(Millis(horizon.0.saturating_add(1)));
    let query = Query::of(&ledger.partition(key), Index::Order).and("o < :younger").value(":younger", younger);
    Ok(ledger.client().query(&query.limit(most)).await?.rows)
}

/// Deletes the rows of the entries that the sum names. Then removes the names from the sum.
async fn finished(ledger: &DynamoLedger, key: &Key, sum: Sum) -> Result<Sum> {
    if sum.leaving.is_empty() {
        return Ok(sum);
    }
    let partition = ledger.partition(key);
    let deletes: Vec<_> = sum.leaving.iter().map(|(sort, tag)| delete(&partition, sort, tag)).collect();
    // A refusal is not an error: another call has already deleted the row of the entry.
    let made = |delete: Write| async move { ledger.client().write(&delete).await.map(drop) };
    stream::iter(deletes).map(made).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    let next = Sum { writes: sum.writes + 1, leaving: Default::default(), ..sum.clone() };
    let names = Write::update(&sum_key(partition)).remove(&["x"]).set("n", next.writes);
    let names = names.only_if("n = :seen").value(":seen", sum.writes);
    ledger.client().write(&names).await?;
    Ok(next)
}

/// Returns the deletion of an entry that the sum names.
fn delete(partition: &str, sort: &str, tag: &str) -> Write {
    // The condition compares tags, because the operation may since have got a new row.
    Write::delete(&RowKey::new(partition, sort)).only_if("begins_with(c, :tag)").value(":tag", tag)
}
