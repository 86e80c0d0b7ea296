//! `storagebox bank import`: copies the ids of another bank with their items, and its free items.
//!
//! No call of a bank assigns a given item to an id. So the import withdraws all free items, and then adds each item
//! alone and takes it for its id. Every step can be repeated, and each run reads both banks to find what is missing.

mod compare;
mod contents;
mod copy;
mod ended;
mod report;
#[cfg(test)]
mod tests;

use std::io::Write;

use storagebox::{Bank, Store};

use crate::cli::Import;
use crate::exit::{Exit, Failure};
use crate::store;
use compare::Comparison;
use contents::Contents;
use copy::Copied;

pub(super) async fn run(
    args: &Import,
    into: &Bank,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    let other = store::other(&args.from).await?;
    let imported = of_store(args, &other, into).await;
    let imported = store::closed(&other, imported).await?;
    report::answer(args, &imported).print(to, as_json)?;
    imported.verdict()
}

async fn of_store(args: &Import, other: &Store, into: &Bank) -> Result<Imported, Failure> {
    let name = args.from_namespace.as_ref().unwrap_or(&args.of.name);
    import(&other.bank(name)?, into).await
}

#[derive(Debug, Default)]
struct Imported {
    ids: u64,
    free: u64,
    copied: Copied,
    /// Whether the import wrote nothing, because it cannot repair the differences.
    is_refused: bool,
    compared: Comparison,
}

/// Reads both banks, copies the missing ids and items, and compares both banks again.
async fn import(from: &Bank, into: &Bank) -> Result<Imported, Failure> {
    let (there, here) = (Contents::read(from).await?, Contents::read(into).await?);
    let mut obstacles = Comparison::obstacles(&there, &here);
    ended::enter_all(&mut obstacles, &copy::missing(&there, &here), into).await?;
    if obstacles.has_any() {
        return Ok(Imported { is_refused: true, ..Imported::of(&there, obstacles) });
    }
    let copied = copy::all(&there, &here, into).await?;
    let (there_now, here) = (Contents::read(from).await?, Contents::read(into).await?);
    let mut compared = Comparison::whole(&there_now, &here);
    compared.changed = there.differences(&there_now);
    Ok(Imported { copied, ..Imported::of(&there_now, compared) })
}

impl Imported {
    fn of(there: &Contents, compared: Comparison) -> Self {
        let (ids, free) = (there.ids(), there.free().count() as u64);
        Self { ids, free, compared, ..Self::default() }
    }

    fn verdict(self) -> Result<Exit, Failure> {
        let mismatches = self.compared.mismatches();
        match (mismatches.is_empty(), self.is_refused) {
            // An empty bank may be the result of a mistyped name.
            (true, _) if self.ids + self.free == 0 => Ok(Exit::Nothing),
            (true, _) => Ok(Exit::Done),
            (false, true) => Err(Failure::NotImported(mismatches)),
            (false, false) => Err(Failure::NotTheSame(mismatches)),
        }
    }
}
