//! The log of a ledger, out of the index.

use storagebox_core::{Cursor, Key, LedgerEntry, Page, Result};

use super::rows::{Sum, delta_in, place_in, read_place, reason_in};
use super::{DynamoLedger, contention};
use crate::client::{Index, Look};
use crate::error::bad;
use crate::row::Row;

/// The most entries of one page, whatever was asked for: a page may be short.
const MOST: usize = 1_000;
/// What our cursors begin with; the place of the last change follows, or nothing after the sum.
const AFTER: &str = "after:";

/// Where a page begins: at the sum, or after this place.
pub(super) type Place<'a> = Option<&'a str>;

pub(super) fn place(cursor: Option<&Cursor>, limit: usize) -> Result<(Place<'_>, usize)> {
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

/// One page. What the sum has is left out of the changes; so the sum is read first. Where it is shown itself, nothing
/// may have been added to it in between.
pub(super) async fn page(
    ledger: &DynamoLedger,
    key: &Key,
    after: Place<'_>,
    limit: usize,
) -> Result<Page<LedgerEntry>> {
    ledger.values.ready().await?;
    let sum = ledger.sum(key).await?;
    let first = sum.shown().filter(|_| after.is_none());
    if first.is_some() && limit == 1 {
        return Ok(Page { entries: first.into_iter().collect(), next: Some(cursor("")) });
    }
    let look = look(&ledger.partition(key), after, limit - usize::from(first.is_some()));
    let answers = ledger.client().query(&look).await?;
    if after.is_none() && ledger.sum(key).await?.writes != sum.writes {
        return Err(contention());
    }
    let changes = answers.rows.iter().filter_map(|row| shown(&sum, row).transpose());
    let entries = first.into_iter().map(Ok).chain(changes).collect::<Result<_>>()?;
    let last = answers.rows.last().filter(|_| answers.next.is_some());
    Ok(Page { entries, next: last.and_then(|row| row.text("o")).map(cursor) })
}

fn look(partition: &str, after: Place<'_>, limit: usize) -> Look {
    let look = Look::at(partition, Index::Order).limit(limit);
    match after.filter(|place| !place.is_empty()) {
        Some(place) => look.and("o > :after").value(":after", place),
        None => look,
    }
}

/// The entry as it is shown, unless it is a fence, or in the sum.
fn shown(sum: &Sum, row: &Row) -> Result<Option<LedgerEntry>> {
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
    fn whatever_a_cursor_says() {
        storagebox_fuzz::texts(&["after:", "after:00000001700000000000:op-1"], |text| {
            let cursor = Cursor::new(text);
            match place(Some(&cursor), 1) {
                Ok((Some(place), 1)) => assert_eq!(super::cursor(place).as_str(), text),
                Ok(other) => panic!("{text:?} is read as {other:?}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidInput, "{text:?}"),
            }
        });
    }
}
