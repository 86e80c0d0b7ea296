//! `list` and `holder`: first the free items, then the records.

use storagebox_core::{ClaimId, Cursor, Error, Item, ItemState, ListedItem, Page, Result};

use super::tables::{ID, ITEM, Tables, key};
use crate::row::{Attributes, Row, Value};

/// The largest number of rows per page.
const MOST: usize = 1_000;

/// The prefix of a cursor in the items' table.
const ITEMS: &str = "items:";
const RECORDS: &str = "records:";

#[derive(Clone, Debug)]
pub(super) enum Position {
    Items(Option<Item>),
    Records(Option<ClaimId>),
}

impl Position {
    /// Reads a cursor, and checks the limit.
    pub(super) fn read(cursor: Option<&Cursor>, limit: usize) -> Result<Self> {
        if limit == 0 {
            return Err(Error::invalid("limit", "must be at least 1").on("dynamo"));
        }
        let Some(cursor) = cursor.map(Cursor::as_str) else { return Ok(Self::Items(None)) };
        let not_ours = |_| Error::invalid("cursor", "was not made by this namespace").on("dynamo");
        if cursor == RECORDS {
            return Ok(Self::Records(None));
        }
        match (cursor.strip_prefix(ITEMS), cursor.strip_prefix(RECORDS)) {
            (Some(item), _) => Item::new(item).map(|item| Self::Items(Some(item))).map_err(not_ours),
            (_, id) => ClaimId::new(id.unwrap_or_default()).map(|id| Self::Records(Some(id))).map_err(not_ours),
        }
    }

    fn cursor(&self) -> Cursor {
        Cursor::new(match self {
            Self::Items(after) => format!("{ITEMS}{}", after.as_ref().map_or("", Item::as_str)),
            Self::Records(after) => format!("{RECORDS}{}", after.as_ref().map_or("", ClaimId::as_str)),
        })
    }
}

impl Tables {
    pub(super) async fn list(&self, position: &Position, limit: usize) -> Result<Page<ListedItem>> {
        let limit = Some(limit.min(MOST));
        match position {
            Position::Items(after) => self.list_free(after.as_ref(), limit).await,
            Position::Records(after) => self.list_given(after.as_ref(), limit).await,
        }
    }

    async fn list_free(&self, after: Option<&Item>, limit: Option<usize>) -> Result<Page<ListedItem>> {
        let after = after.map(|item| key(item.as_str()));
        let page = self.page(self.items(), limit, after).await?;
        let free = |row| Ok(ListedItem { item: self.item_of(row)?, state: ItemState::Free });
        let entries = page.rows.iter().map(free).collect::<Result<_>>()?;
        let last = page.next.map(|last| self.item_of(&Row::from(last))).transpose()?;
        let next = last.map_or(Position::Records(None), |last| Position::Items(Some(last)));
        Ok(Page { entries, next: Some(next.cursor()) })
    }

    async fn list_given(&self, after: Option<&ClaimId>, limit: Option<usize>) -> Result<Page<ListedItem>> {
        let after = after.map(|id| Attributes::from([(ID.to_owned(), id.as_str().value())]));
        let page = self.page(self.records(), limit, after).await?;
        let entries = page.rows.iter().map(|record| self.listed(record)).collect::<Result<_>>()?;
        let last = page.next.map(|last| self.id_of(&Row::from(last))).transpose()?;
        Ok(Page { entries, next: last.map(|last| Position::Records(Some(last)).cursor()) })
    }

    fn listed(&self, record: &Row) -> Result<ListedItem> {
        Ok(ListedItem { item: self.given_by(record)?, state: ItemState::Held(self.id_of(record)?) })
    }

    /// Returns the state of an item.
    pub(super) async fn holder(&self, item: &Item) -> Result<ItemState> {
        let keys = vec![key(item.as_str())];
        // The records are read second, so that an item that is taken meanwhile is found among the records.
        let free = self.client().settle("holder", || self.client().rows(keys.clone())).await?;
        if free.iter().any(|row| row.text(ITEM) == Some(item.as_str())) {
            return Ok(ItemState::Free);
        }
        let mut from = None;
        loop {
            let page = self.client().settle("holder", || self.page(self.records(), None, from.clone())).await?;
            for record in &page.rows {
                if self.given_by(record)? == *item {
                    return self.id_of(record).map(ItemState::Held);
                }
            }
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(ItemState::Unknown),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cursor: &str) -> Result<Position> {
        Position::read(Some(&Cursor::new(cursor)), 1)
    }

    #[test]
    fn a_position_is_read_unchanged_from_its_cursor() {
        let (item, id) = (Item::new("records:x").unwrap(), ClaimId::new("items:").unwrap());
        for position in [Position::Items(Some(item)), Position::Records(None), Position::Records(Some(id))] {
            let found = read(position.cursor().as_str()).unwrap();
            assert_eq!(format!("{found:?}"), format!("{position:?}"));
        }
    }

    #[test]
    fn fuzz_cursor_is_read_or_refused() {
        storagebox_fuzz::texts(&["items:code", "records:", "records:ada"], |text| {
            if let Ok(position) = read(text) {
                assert_eq!(position.cursor().as_str(), text);
            }
        });
    }

    #[test]
    fn a_cursor_of_another_listing_is_refused() {
        for cursor in ["", "x", "items:", "after:SAVE-1", "0:SAVE-1"] {
            let error = read(cursor).unwrap_err();
            assert_eq!(error.kind(), storagebox_core::ErrorKind::InvalidInput, "{cursor}");
        }
        assert!(Position::read(None, 0).is_err());
    }
}
