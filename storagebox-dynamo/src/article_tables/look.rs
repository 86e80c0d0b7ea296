//! Free items, by the page.
//!
//! Looks walk through the table from a random place on, so that workers who look at once see different items and one
//! that looks again does not see those that it has.

use std::sync::{MutexGuard, PoisonError};

use storagebox_core::{Item, Result};

use super::tables::{Tables, key};
use crate::candidates::{Candidates, Source};
use crate::client::{Answers, hex};
use crate::row::Attributes;

impl Source for Tables {
    type Candidate = Item;

    fn candidates(&self) -> &Candidates<Item> {
        &self.candidates
    }

    async fn somewhere(&self, limit: usize) -> Result<Vec<Item>> {
        let place = self.place().take().unwrap_or_else(anywhere);
        let page = self.page(self.items(), Some(limit), Some(place)).await?;
        let found = self.found(page)?;
        if found.is_empty() { self.everywhere(limit).await } else { Ok(found) }
    }

    /// A page may be empty and not the last.
    async fn everywhere(&self, limit: usize) -> Result<Vec<Item>> {
        let mut page = self.page(self.items(), Some(limit), None).await?;
        while page.rows.is_empty() && page.next.is_some() {
            page = self.page(self.items(), Some(limit), page.next).await?;
        }
        self.found(page)
    }
}

impl Tables {
    /// The next look goes on where this page ends.
    fn found(&self, page: Answers) -> Result<Vec<Item>> {
        *self.place() = page.next;
        page.rows.iter().map(|row| self.item_of(row)).collect()
    }

    fn place(&self) -> MutexGuard<'_, Option<Attributes>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// DynamoDB keeps rows in the order of a hash of their keys, so that any text is a place, also one that is no item.
fn anywhere() -> Attributes {
    key(&hex(&fastrand::u32(..).to_be_bytes()))
}
