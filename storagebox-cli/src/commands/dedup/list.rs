//! `storagebox dedup list`: every record, as a stream.

use storagebox::dedup::ListedRecord;
use storagebox::{Cursor, Page, Result, async_trait, parts::DedupRepo};

use crate::commands::listing::{Cell, Row};
use crate::commands::pages::Listed;

/// The records of one namespace.
pub(super) struct Recorded<'a>(pub &'a dyn DedupRepo);

#[async_trait]
impl Listed for Recorded<'_> {
    type Entry = ListedRecord;

    async fn page(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        self.0.list(cursor, limit).await
    }
}

impl Row for ListedRecord {
    const HEADER: &'static [&'static str] = &["id", "version", "value"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let version = Cell::Figure(self.entry.version.number().into());
        vec![Cell::Text(self.id.as_str()), version, Cell::Bytes(self.entry.value.as_bytes())]
    }
}
