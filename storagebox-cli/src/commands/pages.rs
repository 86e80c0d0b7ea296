//! Reads a listing page by page.

use storagebox::values::Listing;
use storagebox::{Cursor, Result};
use tokio::task::yield_now;

pub(crate) const PAGE: usize = 1_000;

/// A listing that a command reads page by page, and the cursor of its next page.
pub(crate) struct Pages<L> {
    listing: L,
    cursor: Option<Cursor>,
    at_end: bool,
}

impl<'a, T: 'a, L: Fn() -> Listing<'a, T>> Pages<L> {
    pub(crate) fn of(listing: L) -> Self {
        Self { listing, cursor: None, at_end: false }
    }

    /// Reads a page of at most `limit` entries, which may be empty. Returns `None` after the last page.
    pub(crate) async fn next(&mut self, limit: usize) -> Result<Option<Vec<T>>> {
        if self.at_end {
            return Ok(None);
        }
        let listing = (self.listing)();
        let page = listing.page(self.cursor.as_ref(), limit).await?;
        self.at_end = page.next.is_none();
        self.cursor = page.next;
        // Without this, a store that never waits would keep the program from handling a signal.
        yield_now().await;
        Ok(Some(page.entries))
    }
}
