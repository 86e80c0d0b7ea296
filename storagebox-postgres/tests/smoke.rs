//! A part of the suite in every other set-up. `STORAGEBOX_SET_UPS=everything` runs all of it, in more set-ups.
//! `STORAGEBOX_SET_UP` selects the set-ups whose names contain its value.

mod support;

use std::env;
use std::process::ExitCode;

use storagebox_conformance::{neighbour, run_with};
use storagebox_postgres::Statements;
use storagebox_testkit::checks::harness::{everything, in_other_set_ups};
use support::{PostgresHarness, SetUp, open_beside};

const SET_UPS: [SetUp; 2] = [
    SetUp { name: "smoke, combining off", combining: false, ..SetUp::PLAIN },
    SetUp { name: "smoke, PgBouncer", pooled: true, statements: Statements::Simple, ..SetUp::PLAIN },
];

/// Set-ups in which the suite takes too long to run on every change. The tests in `beside.rs` and `limits.rs` make
/// calls in each of these set-ups.
const OTHERS: [SetUp; 4] = [
    SetUp {
        name: "smoke, a publication of all tables",
        server: &[("wal_level", "logical")],
        beside: "CREATE PUBLICATION everything FOR ALL TABLES",
        ..SetUp::PLAIN
    },
    SetUp {
        name: "smoke, serializable by default",
        beside: "ALTER DATABASE {database} SET default_transaction_isolation = serializable",
        ..SetUp::PLAIN
    },
    SetUp { name: "smoke, one connection", connections: Some(1), ..SetUp::PLAIN },
    SetUp {
        name: "smoke, a role with one connection behind PgBouncer",
        pooled: true,
        statements: Statements::Simple,
        beside: "ALTER ROLE {database} CONNECTION LIMIT 1",
        connections: Some(1),
        ..SetUp::PLAIN
    },
];

fn main() -> ExitCode {
    neighbour(open_beside).unwrap_or_else(suites)
}

fn suites() -> ExitCode {
    let others: &[SetUp] = if everything() { &OTHERS } else { &[] };
    let named = env::var("STORAGEBOX_SET_UP").unwrap_or_default();
    let set_ups = SET_UPS.iter().chain(others).filter(|set_up| set_up.name.contains(&named)).copied();
    in_other_set_ups(set_ups, |set_up, options| {
        PostgresHarness::with_database(set_up, |runtime, database| {
            let harness = runtime.block_on(PostgresHarness::new(database, set_up))?;
            Ok(run_with(harness, options))
        })
    })
}
