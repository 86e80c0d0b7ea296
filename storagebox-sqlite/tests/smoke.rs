//! A part of the suite in every other set-up.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Options, Profile, Selection, run_with};
use support::{SetUp, SqliteHarness, be_a_worker_if_asked};

const SET_UPS: [SetUp; 2] = [
    SetUp { name: "smoke, combining off", combining: false, ..SetUp::PLAIN },
    SetUp { name: "smoke, pools handed in", pools: true, ..SetUp::PLAIN },
];

fn main() -> ExitCode {
    be_a_worker_if_asked().unwrap_or_else(|| {
        let outcomes = SET_UPS
            .map(|set_up| run_with(SqliteHarness(set_up), Options::new(Profile::SMOKE).selection(Selection::Smoke)));
        outcomes.into_iter().find(|outcome| *outcome != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
    })
}
