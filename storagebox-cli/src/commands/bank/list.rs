//! `storagebox bank list`: every item with its state, as a stream.

use std::io::{self, Write};

use serde_json::Value;
use storagebox::{BankAdmin, ListedItem};

use super::answers::{claim, name};
use super::pages::{PAGE, Pages};
use crate::cli::List;
use crate::exit::{Exit, Failure};

/// Writes at once what a page holds. Whoever stopped reading has read enough.
pub(super) async fn list(
    args: &List,
    bank: &dyn BankAdmin,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    match try_list(args.limit.unwrap_or(u64::MAX), bank, as_json, to).await {
        Err(Failure::Print(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        Ok(()) | Err(Failure::Print(_)) => Ok(Exit::Done),
        Err(failure) => Err(failure),
    }
}

async fn try_list(
    limit: u64,
    bank: &dyn BankAdmin,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<(), Failure> {
    if !as_json {
        print(to, &csv([["item", "state", "id"]].into_iter())?)?;
    }
    let mut pages = Pages::of(bank);
    let mut left = limit;
    while left > 0 {
        let room = usize::try_from(left).map_or(PAGE, |left| left.min(PAGE));
        let Some(entries) = pages.next(room).await? else { break };
        left -= entries.len() as u64;
        print(to, &if as_json { json_lines(&entries) } else { csv(entries.iter().map(fields))? })?;
    }
    Ok(())
}

fn print(to: &mut (dyn Write + Send), page: &[u8]) -> Result<(), Failure> {
    to.write_all(page).and_then(|()| to.flush()).map_err(Failure::Print)
}

fn fields(entry: &ListedItem) -> [&str; 3] {
    [entry.item.as_str(), name(&entry.state), claim(&entry.state).unwrap_or("")]
}

fn csv<'a>(rows: impl Iterator<Item = [&'a str; 3]>) -> Result<Vec<u8>, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(|error| Failure::Print(error.into()))?;
    }
    writer.into_inner().map_err(|error| Failure::Print(error.into_error()))
}

fn json_lines(entries: &[ListedItem]) -> Vec<u8> {
    let line = |entry: &ListedItem| {
        let [item, state, _] = fields(entry);
        let facts = [("item", Some(item)), ("state", Some(state)), ("id", claim(&entry.state))];
        format!("{}\n", facts.into_iter().collect::<Value>())
    };
    entries.iter().map(line).collect::<String>().into_bytes()
}
