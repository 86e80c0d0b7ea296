//! Rows of tables that hold what no call wrote: whatever a cell holds, a call does its work or says that it cannot.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;

use storagebox_core::{Backend, Certainty, Error, ErrorKind, Result, async_trait};
use storagebox_fuzz::Value;
use tokio::runtime::Runtime;

use super::records::{self, Numbers};
use super::{Call, bank, call, counters, entities, ordered, tokens};

const NAME: &str = "namespace";
/// Ids of records in every state, each with the number that it was given where the first is 1.
const RECORDS: [(&str, u64); 5] = [("DONE", 1), ("PAST", 3), ("REPLACED", 6), ("LEASED", 7), ("COMPLETED", 11)];

/// What the cells of a row hold, by their columns.
pub type Cells = BTreeMap<String, Value>;

/// A row, as it was before it was changed.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its table.
    pub table: String,
    /// What tells it from all others of the table.
    pub name: String,
    /// What it held.
    pub cells: Cells,
}

/// The tables of a store, past the library.
#[async_trait]
pub trait Tables: Send + Sync {
    /// Every row. They are what [`Tables::put_back`] goes back to.
    async fn keep(&self) -> Result<Vec<Row>>;

    /// Makes them what they were when they were kept.
    async fn put_back(&self) -> Result<()>;

    /// Puts this into the row; false if the database refuses it.
    async fn change(&self, row: &Row, cells: &Cells) -> Result<bool>;

    /// Everything that is in them now.
    async fn contents(&self) -> Result<Vec<String>>;
}

/// Fills a store with something in every table.
///
/// # Errors
///
/// As of the store.
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

/// Changes the rows of a store that was [filled](fill), and after each change makes one of the calls that read the row.
///
/// # Panics
///
/// If a call panics, fails in a way that blames anything but what is stored, or changes something and says that it did
/// not.
///
/// # Errors
///
/// If the tables cannot be read or changed.
pub fn whatever(runtime: &Runtime, store: &dyn Backend, tables: &dyn Tables) -> Result<()> {
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

    /// The row, and what comes into it: null where an edit removed the cell.
    fn changed(&self, value: &Value) -> Option<(&Row, Cells)> {
        let Value::Map(map) = value else { return None };
        let [(name, Value::Map(cells))] = map.as_slice() else { return None };
        let row = self.rows.get(name)?;
        let cell = |column: &String| cells.iter().find(|(name, _)| name == column).map(|(_, value)| value.clone());
        let cells = row.cells.keys().map(|column| (column.clone(), cell(column).unwrap_or(Value::Nothing)));
        let changed: Cells = cells.filter(|(column, value)| row.cells.get(column) != Some(value)).collect();
        (!changed.is_empty()).then_some((row, changed))
    }

    /// A call that names something of the row, or nothing: which of them, the input decides.
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

/// A namespace with other options is one that was opened another way, and a store of another version is not set up, or
/// by a newer library. What was done before its answer turned out to make no sense is unknown.
fn is_said(error: &Error) -> bool {
    use ErrorKind::{Corrupt, Misconfigured, NotSetUp, OutcomeUnknown, Unsupported};
    matches!(error.kind(), Corrupt | Misconfigured | NotSetUp | OutcomeUnknown | Unsupported)
}
