//! `storagebox counter log`: the operations of a ledger, as a stream.

use storagebox::counters::LedgerEntry;

use crate::commands::listing::{Cell, Row};

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
