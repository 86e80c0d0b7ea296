//! The table of clauses, with the cases that check each clause, and the tables of decisions.

use anyhow::{Result, ensure};

use crate::command::{captured, cargo};
use crate::workspace;

/// The generated files, each with the arguments of the program that prints the file.
const TABLES: [(&str, &[&str]); 2] = [("conformance/CLAUSES.md", &[]), ("docs/DECISIONS.md", &["--", "decisions"])];

/// Writes the tables, or checks that they are up to date.
pub(crate) fn run(check: bool) -> Result<()> {
    TABLES.into_iter().try_for_each(|(file, arguments)| table(file, arguments, check))
}

fn table(file: &str, arguments: &[&str], check: bool) -> Result<()> {
    let of_example = ["run", "--locked", "-p", "storagebox-conformance", "--example", "clauses"];
    let fresh = captured(cargo(of_example.iter().chain(arguments).copied()))?;
    if !check {
        return workspace::write(file, fresh);
    }
    ensure!(workspace::read(file)? == fresh, "{file} is stale: run `cargo xtask clauses`");
    Ok(())
}
