//! The log of a ledger, in the order of the index.

use storagebox_core::{Cursor, Key, LedgerEntry, Page, Result};

use super::DynamoLedger;
use super::rows::{Sum, delta_in, place_in, read_place, reason_in};
use crate::client::{Index, Query};
use crate::error::{bad, contention};
use crate::row::Row;

/// The largest number of entries per page.
const MOST: usize = 1_000;
/// The prefix of a cursor. The key of the last change on the page follows the prefix, or nothing if the page ended with
/// the sum.
const AFTER: &str = "after:";

/// The key in the index after which a page begins; `None` for a page that begins with the sum.
pub(super) type StartAfter<'a> = Option<&'a str>;

/// Reads a cursor, and checks the limit.
pub(super) fn start_after(cursor: Option<&Cursor>, limit: usize) -> Result<(StartAfter<'_>, usize)> {
    if limit == 0 {
        return Err(bad("limit", "must be at least 1"));
    }
    let place = cursor.map(|cursor| {
        let place = cursor.as_str().strip_prefix(AFTER);
        let place = place.filter(|place| place.is_empty() || read_place(place).is_some());
        place.ok_or_else(|| bad("cursor", "was not made by this namespace"))
    });
    Ok((place.transpose()?, limit.min(MOST)))
}

/// Reads a page of the log, without the changes that the sum contains. Returns `Contention` if the sum on the page
/// changed during the read.
pub(super) async fn page(
    ledger: &DynamoLedger,
    key: &Key,
    after: StartAfter<'_>,
    limit: usize,
) -> Result<Page<LedgerEntry>> {
    ledger.values.ready().await?;
    let sum = ledger.sum(key).await?;
    let first = sum.log_entry().filter(|_| after.is_none());
    if first.is_some() && limit == 1 {
        return Ok(Page { entries: first.into_iter().collect(), next: Some(cursor("")) });
    }
    let query = query(&ledger.partition(key), after, limit - usize::from(first.is_some()));
    let page = ledger.client().query(&query).await?;
    if after.is_none() && ledger.sum(key).await?.writes != sum.writes {
        return Err(contention());
    }
    let changes = page.rows.iter().filter_map(|row| log_entry(&sum, row).transpose());
    let entries = first.into_iter().map(Ok).chain(changes).collect::<Result<_>>()?;
    let last = page.rows.last().filter(|_| page.next.is_some());
    Ok(Page { entries, next: last.and_then(|row| row.text("o")).map(cursor) })
}

fn query(partition: &str, after: StartAfter<'_>, limit: usize) -> Query {
    let query = Query::of(partition, Index::Order).limit(limit);
    match after.filter(|place| !place.is_empty()) {
        Some(place) => query.and("o > :after").value(":after", place),
        None => query,
    }
}

/// Returns the log entry of a row; `None` if the operation was cancelled or the sum names the entry.
fn log_entry(sum: &Sum, row: &Row) -> Result<Option<LedgerEntry>> {
    let Some(delta) = delta_in(row)?.filter(|_| !sum.has(row)) else {
        return Ok(None);
    };
    let (at_millis, op) = place_in(row)?;
    Ok(Some(LedgerEntry::Change { op, delta, at_millis, reason: reason_in(row)? }))
}

fn cursor(place: &str) -> Cursor {
    Cursor::new(format!("{AFTER}{place}"))
}

#[cfg(test)]
mod tests {
    use storagebox_core::ErrorKind;

    use super::*;

    #[test]
    fn fuzz_cursor_is_read_or_refused() {
        storagebox_fuzz::texts(&["after:", "after:00000001700000000000:op-1"], |text| {
            let cursor = Cursor::new(text);
            match start_after(Some(&cursor), 1) {
                Ok((Some(place), 1)) => assert_eq!(super::cursor(place).as_str(), text),
                Ok(other) => panic!("{text:?} is read as {other:?}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidInput, "{text:?}"),
            }
        });
    }
}
