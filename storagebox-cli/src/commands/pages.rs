//! A listing, page by page.

use storagebox::bank::ListedItem;
use storagebox::{Cursor, Page, Result, async_trait, parts::ItemBank};
use tokio::task::yield_now;

use crate::exit::Failure;
use crate::retry;
use crate::step::Step;

pub(crate) const PAGE: usize = 1_000;

/// What can be listed.
#[async_trait]
pub(crate) trait Listed: Sync {
    type Entry: Send;

    async fn page(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<Self::Entry>>;
}

#[async_trait]
impl Listed for dyn ItemBank + '_ {
    type Entry = ListedItem;

    async fn page(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        self.list(cursor, limit).await
    }
}

pub(crate) struct Pages<'a, L: Listed + ?Sized> {
    listed: &'a L,
    cursor: Option<Cursor>,
    at_end: bool,
}

impl<'a, L: Listed + ?Sized> Pages<'a, L> {
    pub(crate) fn of(listed: &'a L) -> Self {
        Self { listed, cursor: None, at_end: false }
    }

    /// At most that many entries, perhaps none although more follow; `None` at the end.
    pub(crate) async fn next(&mut self, limit: usize) -> Result<Option<Vec<L::Entry>>, Failure> {
        if self.at_end {
            return Ok(None);
        }
        let cursor = self.cursor.as_ref();
        let page = retry::harmless(Step::List, || self.listed.page(cursor, limit)).await?;
        self.at_end = page.next.is_none();
        self.cursor = page.next;
        // A store that never waits must not keep the program from hearing an interrupt.
        yield_now().await;
        Ok(Some(page.entries))
    }
}
