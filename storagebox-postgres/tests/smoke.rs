//! A part of the suite in every other set-up, or all of it: `STORAGEBOX_SET_UPS=everything`.

mod support;

use std::process::ExitCode;

use storagebox_conformance::run_with;
use storagebox_postgres::Statements;
use storagebox_testkit::checks::harness::in_other_set_ups;
use support::{PostgresHarness, SetUp};

const SET_UPS: [SetUp; 2] = [
    SetUp { name: "smoke, combining off", combining: false, ..SetUp::PLAIN },
    SetUp { name: "smoke, PgBouncer", pooled: true, statements: Statements::Simple, ..SetUp::PLAIN },
];

fn main() -> ExitCode {
    in_other_set_ups(SET_UPS, |set_up, options| {
        PostgresHarness::with_database(|runtime, database| {
            let harness = runtime.block_on(PostgresHarness::new(database, set_up))?;
            Ok(run_with(harness, options))
        })
    })
}
