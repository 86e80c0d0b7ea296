//! The whole suite, as a role with the least rights.

mod support;

use std::process::ExitCode;

use storagebox_conformance::run;
use support::{PostgresHarness, SetUp};

fn main() -> ExitCode {
    PostgresHarness::with_database(|runtime, database| {
        Ok(run(runtime.block_on(PostgresHarness::new(database, SetUp::PLAIN))?))
    })
}
