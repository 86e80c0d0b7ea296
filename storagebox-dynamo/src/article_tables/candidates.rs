//! Reads free items, page by page.
//!
//! The first page begins at a random place of the table, so workers that read at the same time see different items.
//! Each further page begins where the last one ended, so a worker does not read the same items again.

use storagebox_core::{Item, Result};

use super::tables::{Tables, key};
use crate::candidates::{Candidates, Source};
use crate::client::{RowPage, hex};
use crate::lock::lock;
use crate::row::Attributes;

impl Source for Tables {
    type Candidate = Item;

    fn candidates(&self) -> &Candidates<Item> {
        &self.candidates
    }

    async fn page_from_anywhere(&self, limit: usize) -> Result<Vec<Item>> {
        let position = lock(&self.position).take().unwrap_or_else(anywhere);
        let page = self.page(self.items(), Some(limit), Some(position)).await?;
        let found = self.found(page)?;
        if found.is_empty() { self.page_from_start(limit).await } else { Ok(found) }
    }

    async fn page_from_start(&self, limit: usize) -> Result<Vec<Item>> {
        let mut page = self.page(self.items(), Some(limit), None).await?;
        // A page may be empty although it is not the last one.
        while page.rows.is_empty() && page.next.is_some() {
            page = self.page(self.items(), Some(limit), page.next).await?;
        }
        self.found(page)
    }
}

impl Tables {
    /// Returns the items of a page, and stores where the next page begins.
    fn found(&self, page: RowPage) -> Result<Vec<Item>> {
        *lock(&self.position) = page.next;
        page.rows.iter().map(|row| self.item_of(row)).collect()
    }
}

/// Returns a random key at which a scan can start.
fn anywhere() -> Attributes {
    // DynamoDB orders rows by a hash of their keys, so a scan can start after any text.
    key(&hex(&fastrand::u32(..).to_be_bytes()))
}
