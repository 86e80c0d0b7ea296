//! Rows with contents that no call wrote: whatever a cell contains, a call does its work or reports the damage.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;

use storagebox_core::{Backend, Certainty, Error, ErrorKind, Result, async_trait};
use storagebox_fuzz::Value;
use tokio::runtime::Runtime;

use super::records::{self, Numbers};
use super::{Call, bank, call, counters, entities, ordered, tokens};

const NAME: &str = "namespace";
/// The ids of records in every state, each with its version number in a store that counts versions from 1.
const RECORDS: [(&str, u64); 5] = [("DONE", 1), ("PAST", 3), ("REPLACED", 6), ("LEASED", 7), ("COMPLETED", 11)];

/// The contents of a row's cells, by column.
pub type Cells = BTreeMap<String, Value>;

/// A row as it was before it was changed.
#[derive(Clone, Debug)]
pub struct Row {
    /// The table of the row.
    pub table: String,
    /// The name that distinguishes the row from all others of the table.
    pub name: String,
    /// The contents of the row.
    pub cells: Cells,
}

/// Direct access to the tables of a store, without the library.
#[async_trait]
pub trait Tables: Send + Sync {
    /// Returns every row, and keeps the rows for [`Tables::put_back`].
    async fn keep(&self) -> Result<Vec<Row>>;

    /// Restores the rows that were kept.
    async fn put_back(&self) -> Result<()>;

    /// Writes these cells into the row. Returns `false` if the database refuses them.
    async fn change(&self, row: &Row, cells: &Cells) -> Result<bool>;

    /// Returns the present contents of all tables.
    async fn contents(&self) -> Result<Vec<String>>;
}

/// Fills a store with data in every table.
pub async fn fill(store: &dyn Backend) -> Result<()> {
    bank::fill(store, NAME).await?;
    counters::fill_first(store, NAME).await?;
    counters::fill(store, NAME).await?;
    ordered::fill(store, NAME).await?;
    records::fill(store, NAME, Numbers { forgotten: 4, replaced: 5 }).await?;
    tokens::fill(store, NAME).await?;
    entities::fill(store, NAME).await
}

fn calls(store: &dyn Backend) -> Result<Vec<Call>> {
    let records = store.dedup_repo(&NAME.parse()?)?;
    let mut calls = vec![call!("records", [records], records.list(None, 100))];
    calls.extend(bank::calls(store, NAME)?);
    calls.extend(counters::calls(store, NAME)?);
    calls.extend(ordered::calls(store, NAME, &["VALUE", "DELETED", "NEW"])?);
    calls.extend(tokens::calls(store, NAME, &["LIVE", "CONSUMED", "DISCARDED", "FENCED", "NEW"])?);
    calls.extend(entities::calls(store, NAME)?);
    for record in RECORDS {
        calls.extend(records::of_records(store, NAME, record, "OP")?);
        calls.extend(records::of_leases(store, NAME, record, "OTHER")?);
    }
    Ok(calls)
}

/// Changes one row of a [filled](fill) store at a time, and then makes a call that reads the row. Checks that an error
/// of the call fits damaged data, and that nothing was changed if the error says so.
pub fn fuzz(runtime: &Runtime, store: &dyn Backend, tables: &dyn Tables) -> Result<()> {
    let rows: BTreeMap<_, _> =
        runtime.block_on(tables.keep())?.into_iter().map(|row| (format!("{} {}", row.table, row.name), row)).collect();
    let known = rows.iter().map(|(name, row)| Value::Map(vec![(name.clone(), map(&row.cells))])).collect();
    let scene = AssertUnwindSafe(Scene { runtime, tables, calls: calls(store)?, rows });
    storagebox_fuzz::values(known, |value| scene.stands(value).expect("the tables are read and changed"));
    Ok(())
}

fn map(cells: &Cells) -> Value {
    Value::Map(cells.iter().map(|(column, value)| (column.clone(), value.clone())).collect())
}

struct Scene<'a> {
    runtime: &'a Runtime,
    tables: &'a dyn Tables,
    calls: Vec<Call>,
    rows: BTreeMap<String, Row>,
}

impl Scene<'_> {
    fn stands(&self, value: &Value) -> Result<()> {
        let Some((row, cells)) = self.changed(value) else { return Ok(()) };
        self.runtime.block_on(async {
            self.tables.put_back().await?;
            if self.tables.change(row, &cells).await? {
                self.meets(row, self.call(row, value), &cells).await?;
            }
            Ok(())
        })
    }

    /// Returns the row that the input names, with the changed cells. A cell without a value in the input becomes null.
    fn changed(&self, value: &Value) -> Option<(&Row, Cells)> {
        let Value::Map(map) = value else { return None };
        let [(name, Value::Map(cells))] = map.as_slice() else { return None };
        let row = self.rows.get(name)?;
        let cell = |column: &String| cells.iter().find(|(name, _)| name == column).map(|(_, value)| value.clone());
        let cells = row.cells.keys().map(|column| (column.clone(), cell(column).unwrap_or(Value::Nothing)));
        let changed: Cells = cells.filter(|(column, value)| row.cells.get(column) != Some(value)).collect();
        (!changed.is_empty()).then_some((row, changed))
    }

    /// Returns one of the calls that may read the row, chosen by a hash of the input.
    fn call(&self, row: &Row, value: &Value) -> &Call {
        let reads = |call: &&Call| {
            let names =
                |value: &Value| matches!(value, Value::Text(text) if !text.is_empty() && call.name.contains(text));
            row.cells.values().any(names) || !call.name.contains(char::is_uppercase)
        };
        let calls: Vec<_> = self.calls.iter().filter(reads).collect();
        let mut hasher = DefaultHasher::new();
        format!("{value:?}").hash(&mut hasher);
        let number = usize::try_from(hasher.finish() % calls.len() as u64).unwrap_or_default();
        calls[number]
    }

    async fn meets(&self, row: &Row, call: &Call, cells: &Cells) -> Result<()> {
        let before = self.tables.contents().await?;
        let Err(error) = call.make().await else { return Ok(()) };
        let about = format!("{}, with {cells:?} in {row:?}: {error:?}", call.name);
        assert!(is_said(&error), "{about}");
        if error.certainty() == Certainty::NotApplied {
            assert_eq!(self.tables.contents().await?, before, "{about}");
        }
        Ok(())
    }
}

/// Returns whether damaged data may cause an error of this kind.
fn is_said(error: &Error) -> bool {
    // Damaged options look like a namespace that was opened with other options. A damaged version looks like a store
    // that is not set up, or that a newer library set up. If only the answer makes no sense, the outcome is unknown.
    use ErrorKind::{Corrupt, Misconfigured, NotSetUp, OutcomeUnknown, Unsupported};
    matches!(error.kind(), Corrupt | Misconfigured | NotSetUp | OutcomeUnknown | Unsupported)
}
