//! `storagebox bank list`: every item with its state, as a stream.

use storagebox::bank::ListedItem;

use super::answers::{claim, name};
use crate::commands::listing::{Cell, Row};

impl Row for ListedItem {
    const HEADER: &'static [&'static str] = &["item", "state", "id"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let id = claim(&self.state).map_or(Cell::None, Cell::Text);
        vec![Cell::Text(self.item.as_str()), Cell::Text(name(&self.state)), id]
    }
}
