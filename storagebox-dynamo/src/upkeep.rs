//! Upkeep: rows that no promise needs any more go. On AWS the table's time to live does the same, days later and for free.

use std::collections::HashMap;

use storagebox_core::{Maintained, Result};
use tokio::sync::Mutex;

use crate::client::{Answers, Client, Write};
use crate::row::{Attributes, Row, RowKey, Value};

/// How many rows one request reads, and how many requests one call makes at the most.
const PAGE: usize = 1_000;
const PAGES: usize = 20;

/// The row is one that nobody needs.
const UNNEEDED: &str = "g <= :past";

/// Where the last call stopped.
#[derive(Debug, Default)]
pub(crate) struct Upkeep(Mutex<Option<Attributes>>);

impl Upkeep {
    /// Goes on where the last call stopped, page by page, until the budget is spent or the table's end is reached.
    pub(crate) async fn maintain(&self, client: &Client, most: usize) -> Result<Maintained> {
        let mut deleted = 0;
        let mut from = self.0.lock().await;
        for _ in 0..PAGES {
            let page = client.settled("maintain", || scan(client, from.clone())).await?;
            for row in &page.rows {
                if deleted == most {
                    return Ok(Maintained { deleted: deleted as u64, more: true });
                }
                deleted += usize::from(removed(client, row).await?);
                *from = Some(key_of(row)?.attributes());
            }
            *from = page.next;
            if from.is_none() {
                return Ok(Maintained { deleted: deleted as u64, more: deleted == most });
            }
        }
        Ok(Maintained { deleted: deleted as u64, more: true })
    }
}

async fn scan(client: &Client, from: Option<Attributes>) -> Result<Answers> {
    let mut values = HashMap::from([(":past".to_owned(), client.surely_past().0.value())]);
    let prefix = client.settings().prefix.as_str();
    if prefix.is_empty() {
        return client.scan(UNNEEDED, &values, PAGE, from).await;
    }
    values.insert(":prefix".to_owned(), prefix.value());
    client.scan(&format!("{UNNEEDED} AND begins_with(pk, :prefix)"), &values, PAGE, from).await
}

/// Another call may need the row by now.
async fn removed(client: &Client, row: &Row) -> Result<bool> {
    let delete = Write::delete(&key_of(row)?).only_if(UNNEEDED).value(":past", client.surely_past().0);
    client.deleted("maintain", &delete).await
}

fn key_of(row: &Row) -> Result<RowKey> {
    Ok(RowKey::new(row.needed("pk", row.text("pk"))?, row.sort()?))
}
