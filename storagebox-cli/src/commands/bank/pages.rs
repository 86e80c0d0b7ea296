//! The items of a bank, a page at a time, so that none of them need fit into memory together.

use storagebox::{BankAdmin, Cursor, ListedItem};
use tokio::task::yield_now;

use crate::exit::Failure;
use crate::retry;
use crate::step::Step;

pub(super) const PAGE: usize = 1_000;

pub(super) struct Pages<'a> {
    bank: &'a dyn BankAdmin,
    cursor: Option<Cursor>,
    at_end: bool,
}

impl<'a> Pages<'a> {
    pub(super) fn of(bank: &'a dyn BankAdmin) -> Self {
        Self { bank, cursor: None, at_end: false }
    }

    /// At most that many entries, perhaps none although more follow; `None` at the end.
    pub(super) async fn next(&mut self, limit: usize) -> Result<Option<Vec<ListedItem>>, Failure> {
        if self.at_end {
            return Ok(None);
        }
        let cursor = self.cursor.as_ref();
        let page = retry::harmless(Step::List, || self.bank.list(cursor, limit)).await?;
        self.at_end = page.next.is_none();
        self.cursor = page.next;
        // A store that never waits must not keep the program from hearing an interrupt.
        yield_now().await;
        Ok(Some(page.entries))
    }
}
