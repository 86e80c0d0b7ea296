//! `storagebox counter log`: the operations of a ledger, as a stream.

use storagebox::counters::LedgerEntry;
use storagebox::parts::Ledger;
use storagebox::values::Key;
use storagebox::{Cursor, Page, Result, async_trait};

use crate::commands::listing::{Cell, Row};
use crate::commands::pages::Listed;

/// The log of one counter.
pub(super) struct Entries<'a> {
    pub ledger: &'a dyn Ledger,
    pub key: &'a Key,
}

#[async_trait]
impl Listed for Entries<'_> {
    type Entry = LedgerEntry;

    async fn page(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>> {
        self.ledger.log(self.key, cursor, limit).await
    }
}

impl Row for LedgerEntry {
    const HEADER: &'static [&'static str] = &["entry", "op", "delta", "changes", "at_ms", "reason"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let figure = |figure: i64| Cell::Figure(figure.into());
        match self {
            Self::Change { op, delta, at_millis, reason } => {
                let op = Cell::Text(op.as_str());
                let reason = reason.as_ref().map_or(Cell::None, |reason| Cell::Text(reason.as_str()));
                vec![Cell::Text("change"), op, figure(*delta), Cell::Figure(1), figure(*at_millis), reason]
            }
            Self::Sum { delta, changes, until_millis } => {
                let changes = Cell::Figure((*changes).into());
                vec![Cell::Text("sum"), Cell::None, figure(*delta), changes, figure(*until_millis), Cell::None]
            }
        }
    }
}
