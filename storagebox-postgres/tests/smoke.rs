//! A part of the suite in every other set-up.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Options, Profile, Selection, run_with};
use storagebox_postgres::Statements;
use support::{PostgresHarness, SetUp};

const SET_UPS: [SetUp; 2] = [
    SetUp { name: "smoke, combining off", combining: false, ..SetUp::PLAIN },
    SetUp { name: "smoke, PgBouncer", pooled: true, statements: Statements::Simple, ..SetUp::PLAIN },
];

fn main() -> ExitCode {
    let outcomes = SET_UPS.map(|set_up| {
        PostgresHarness::with_database(|runtime, database| {
            let harness = runtime.block_on(PostgresHarness::new(database, set_up))?;
            Ok(run_with(harness, Options::new(Profile::SMOKE).selection(Selection::Smoke)))
        })
    });
    outcomes.into_iter().find(|outcome| *outcome != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}
