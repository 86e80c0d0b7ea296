//! Prints a listing as a stream: CSV with a header, or one JSON object per line.

use std::io::{self, Write};

use serde_json::Value;
use storagebox::values::Listing;

use super::pages::{PAGE, Pages};
use crate::answer::bytes_field;
use crate::exit::{Exit, Failure};
use crate::output::{csv_to, quoted};
use crate::terminal;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
    Figure(i128),
    /// No value: an empty field in CSV, `null` in JSON.
    None,
}

pub(crate) trait Row {
    const HEADER: &'static [&'static str];

    /// Returns one cell per column of the header.
    fn cells(&self) -> Vec<Cell<'_>>;
}

/// Writes each page as soon as it is read. A closed pipe is not an error.
pub(crate) async fn list<'a, R: Row + 'a>(
    listing: impl Fn() -> Listing<'a, R>,
    limit: Option<u64>,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    match try_list(listing, limit.unwrap_or(u64::MAX), as_json, to).await {
        Err(Failure::Print(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        Ok(()) | Err(Failure::Print(_)) => Ok(Exit::Done),
        Err(failure) => Err(failure),
    }
}

async fn try_list<'a, R: Row + 'a>(
    listing: impl Fn() -> Listing<'a, R>,
    limit: u64,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<(), Failure> {
    if !as_json {
        let header = R::HEADER.iter().map(|key| Cell::Text(key)).collect();
        print(to, &csv([header].into_iter())?)?;
    }
    let mut pages = Pages::of(listing);
    let mut left = limit;
    while left > 0 {
        let room = usize::try_from(left).map_or(PAGE, |left| left.min(PAGE));
        let Some(entries) = pages.next(room).await? else { break };
        left -= entries.len() as u64;
        print(to, &if as_json { json_lines(&entries) } else { csv(entries.iter().map(Row::cells))? })?;
    }
    Ok(())
}

fn print(to: &mut (dyn Write + Send), page: &[u8]) -> Result<(), Failure> {
    to.write_all(page).and_then(|()| to.flush()).map_err(Failure::Print)
}

fn csv<'a>(rows: impl Iterator<Item = Vec<Cell<'a>>>) -> Result<Vec<u8>, Failure> {
    let mut writer = csv_to(Vec::new());
    for row in rows {
        let fields: Vec<_> = row.iter().map(|cell| quoted(field(cell))).collect();
        writer.write_byte_record(&fields.into()).map_err(|error| Failure::Print(error.into()))?;
    }
    writer.into_inner().map_err(|error| Failure::Print(error.into_error()))
}

fn field(cell: &Cell<'_>) -> Vec<u8> {
    match cell {
        Cell::Text(text) => terminal::field(text.as_bytes()),
        Cell::Bytes(bytes) => terminal::field(bytes),
        Cell::Figure(figure) => figure.to_string().into_bytes(),
        Cell::None => vec![],
    }
}

fn json_lines<R: Row>(entries: &[R]) -> Vec<u8> {
    let line = |entry: &R| {
        let fields = R::HEADER.iter().zip(entry.cells()).map(|(key, cell)| json_field(key, &cell));
        format!("{}\n", fields.collect::<Value>())
    };
    entries.iter().map(line).collect::<String>().into_bytes()
}

fn json_field(key: &str, cell: &Cell<'_>) -> (String, Value) {
    let value = match cell {
        Cell::Bytes(bytes) => return bytes_field(key, bytes),
        Cell::Text(text) => (*text).into(),
        // Versions and stamps fit into one of the two types.
        Cell::Figure(figure) => i64::try_from(*figure).map_or_else(|_| u64::try_from(*figure).ok().into(), Value::from),
        Cell::None => Value::Null,
    };
    (key.to_owned(), value)
}
