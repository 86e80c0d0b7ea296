//! A listing, page by page.

use storagebox::values::Listing;
use storagebox::{Cursor, Result};
use tokio::task::yield_now;

pub(crate) const PAGE: usize = 1_000;

/// Reads a listing in pages, which are larger than those of its stream.
pub(crate) struct Pages<L> {
    listing: L,
    cursor: Option<Cursor>,
    at_end: bool,
}

impl<'a, T: 'a, L: Fn() -> Listing<'a, T>> Pages<L> {
    pub(crate) fn of(listing: L) -> Self {
        Self { listing, cursor: None, at_end: false }
    }

    /// At most that many entries, perhaps none although more follow; `None` at the end.
    pub(crate) async fn next(&mut self, limit: usize) -> Result<Option<Vec<T>>> {
        if self.at_end {
            return Ok(None);
        }
        let listing = (self.listing)();
        let page = listing.page(self.cursor.as_ref(), limit).await?;
        self.at_end = page.next.is_none();
        self.cursor = page.next;
        // A store that never waits must not keep the program from hearing an interrupt.
        yield_now().await;
        Ok(Some(page.entries))
    }
}
