//! The table of clauses: what is promised and which case defends it.

use std::fs;

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::workspace;

const TABLE: &str = "conformance/CLAUSES.md";

/// Writes the table anew, or checks that it is fresh.
pub(crate) fn run(check: bool) -> Result<(), Failure> {
    let fresh = captured(cargo(["run", "--locked", "-p", "storagebox-conformance", "--example", "clauses"]))?;
    if !check {
        let path = workspace::root().join(TABLE);
        return fs::write(&path, fresh).map_err(|error| Failure::File { path, error });
    }
    if workspace::read(TABLE)? == fresh { Ok(()) } else { Err(Failure::StaleClauses) }
}
