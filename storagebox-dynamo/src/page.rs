//! Listings over the shards of a namespace, one after another.

use storagebox_core::{Cursor, Error, Page, Result};

use crate::client::{Index, Look, OpenNamespace};
use crate::row::{Attributes, Row, RowKey, Value};

/// The most rows that one request reads, whatever was asked for: a page may be short.
const MOST: usize = 1_000;

/// How many requests beyond one a shard a page takes at the most.
const REQUESTS: usize = 32;

/// Where a listing goes on: a shard, and the sort key after which it does.
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

/// Rows of the shards' partitions from the position on, and where to go on. Shards follow one another until the page is
/// full; where a filter passes over much, it ends earlier. In the index, each row's place is its sort key.
pub(crate) async fn rows(
    open: &OpenNamespace,
    (part, index): (&str, Index),
    position: &Position,
    limit: usize,
    narrowed: impl Fn(Look) -> Look,
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
        let look = narrowed(Look::at(&partition, index)).limit(limit - entries.len()).from(from);
        let answers = open.client().settled("list", || open.client().query(&look)).await?;
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
    fn whatever_a_cursor_says() {
        storagebox_fuzz::texts(&["0:", "7:code", "65535:a:b"], |text| {
            if let Ok(Position { shard, after }) = Position::read(Some(&Cursor::new(text)), 1) {
                let again = Position::cursor(shard, after.as_deref().unwrap_or_default());
                let again = Position::read(Some(&again), 1).unwrap();
                assert_eq!((again.shard, again.after), (shard, after));
            }
        });
    }
}
