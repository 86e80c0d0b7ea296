//! Listings that read the shards of a namespace one after another.

use storagebox_core::{Cursor, Error, Page, Result};

use crate::client::{Index, OpenNamespace, Query};
use crate::row::{Attributes, Row, RowKey, Value};

/// The largest number of rows per page.
const MOST: usize = 1_000;

/// The largest number of requests per page, in addition to one request per shard.
const REQUESTS: usize = 32;

/// Where a page begins: in a shard, after a sort key.
#[derive(Debug)]
pub(crate) struct Position {
    shard: u16,
    after: Option<String>,
}

impl Position {
    /// Reads a cursor, and checks the limit.
    pub(crate) fn read(cursor: Option<&Cursor>, limit: usize) -> Result<Self> {
        if limit == 0 {
            return Err(Error::invalid("limit", "must be at least 1").on("dynamo"));
        }
        let Some(cursor) = cursor else { return Ok(Self { shard: 0, after: None }) };
        let (shard, after) = cursor.as_str().split_once(':').ok_or_else(not_ours)?;
        let shard = shard.parse().map_err(|_| not_ours())?;
        Ok(Self { shard, after: Some(after.to_owned()).filter(|after| !after.is_empty()) })
    }

    fn cursor(shard: u16, after: &str) -> Cursor {
        Cursor::new(format!("{shard}:{after}"))
    }
}

/// Reads a page of rows, one shard after another, until the page is full or has cost too many requests. With
/// `Index::Order`, the attribute `o` of a row must equal its sort key.
pub(crate) async fn rows(
    open: &OpenNamespace,
    (part, index): (&str, Index),
    position: &Position,
    limit: usize,
    narrowed: impl Fn(Query) -> Query,
) -> Result<Page<Row>> {
    let (shards, limit) = (open.shards().await?, limit.min(MOST));
    if position.shard >= shards {
        return Err(not_ours());
    }
    let (mut shard, mut after) = (position.shard, position.after.clone());
    let mut entries = Vec::new();
    for _ in 0..usize::from(shards) + REQUESTS {
        let partition = open.partition(part, shard);
        let from = after.map(|sort| key_in(index, &partition, sort));
        let query = narrowed(Query::of(&partition, index)).limit(limit - entries.len()).from(from);
        let answers = open.client().settle("list", || open.client().query(&query)).await?;
        entries.extend(answers.rows);
        after = answers.next.map(|last| Row::from(last).sort().map(str::to_owned)).transpose()?;
        if after.is_none() {
            shard += 1;
        }
        if shard == shards {
            return Ok(Page { entries, next: None });
        }
        if entries.len() == limit {
            break;
        }
    }
    Ok(Page { entries, next: Some(Position::cursor(shard, after.as_deref().unwrap_or_default())) })
}

fn key_in(index: Index, partition: &str, sort: String) -> Attributes {
    let mut key = RowKey::new(partition, sort.as_str()).attributes();
    if index == Index::Order {
        key.insert("o".to_owned(), sort.value());
    }
    key
}

fn not_ours() -> Error {
    Error::invalid("cursor", "was not made by this namespace").on("dynamo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzz_cursor_is_read_or_refused() {
        storagebox_fuzz::texts(&["0:", "7:code", "65535:a:b"], |text| {
            if let Ok(Position { shard, after }) = Position::read(Some(&Cursor::new(text)), 1) {
                let again = Position::cursor(shard, after.as_deref().unwrap_or_default());
                let again = Position::read(Some(&again), 1).unwrap();
                assert_eq!((again.shard, again.after), (shard, after));
            }
        });
    }
}
