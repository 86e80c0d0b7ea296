//! `storagebox ordered list`: every value with its stamp, as a stream.

use storagebox::ordered::ListedValue;
use storagebox::values::Key;
use storagebox::{Cursor, Page, Result, async_trait, parts::OrderedStore};

use crate::commands::listing::{Cell, Row};
use crate::commands::pages::Listed;

/// The values of one namespace.
pub(super) struct Values<'a> {
    pub values: &'a dyn OrderedStore,
    pub prefix: Prefix,
}

/// Which keys are listed. A text that is no key itself may be what keys begin with, or what none can begin with.
pub(super) enum Prefix {
    Any,
    Of(Key),
    OfNone,
}

impl Prefix {
    pub(super) fn of(text: Option<&str>) -> Self {
        match text {
            None | Some("") => Self::Any,
            Some(text) => Key::new(text).map_or(Self::OfNone, Self::Of),
        }
    }
}

#[async_trait]
impl Listed for Values<'_> {
    type Entry = ListedValue;

    async fn page(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedValue>> {
        let prefix = match &self.prefix {
            Prefix::Any => None,
            Prefix::Of(key) => Some(key),
            Prefix::OfNone => return Ok(Page { entries: vec![], next: None }),
        };
        self.values.list(prefix, cursor, limit).await
    }
}

impl Row for ListedValue {
    const HEADER: &'static [&'static str] = &["key", "at", "writer", "value"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let at = Cell::Figure(self.versioned.stamp.at.into());
        let writer = Cell::Text(self.versioned.stamp.writer.as_str());
        vec![Cell::Text(self.key.as_str()), at, writer, Cell::Bytes(self.versioned.value.as_bytes())]
    }
}
