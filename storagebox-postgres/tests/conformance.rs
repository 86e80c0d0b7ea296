//! The whole suite, as a role with the least rights and with fewer random cases. `STORAGEBOX_PROFILE=quick` runs as
//! many as the memory backend does.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Profile, neighbour, run_with};
use support::{PostgresHarness, SetUp, open_beside};

fn main() -> ExitCode {
    neighbour(open_beside).unwrap_or_else(suite)
}

fn suite() -> ExitCode {
    PostgresHarness::with_database(SetUp::PLAIN, |runtime, database| {
        let harness = runtime.block_on(PostgresHarness::new(database, SetUp::PLAIN))?;
        Ok(run_with(harness, Profile::BRIEF))
    })
}
