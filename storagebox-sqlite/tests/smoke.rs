//! A part of the suite with each other set-up of the store. `STORAGEBOX_SET_UPS=everything` runs the whole suite.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{neighbour, run_with};
use storagebox_testkit::checks::harness::in_other_set_ups;
use support::{SetUp, SqliteHarness, be_a_worker_if_asked, open_beside};

const SET_UPS: [SetUp; 2] = [
    SetUp { name: "smoke, combining off", combining: false, ..SetUp::PLAIN },
    SetUp { name: "smoke, pools handed in", pools: true, ..SetUp::PLAIN },
];

fn main() -> ExitCode {
    let asked = neighbour(open_beside).or_else(be_a_worker_if_asked);
    asked.unwrap_or_else(|| in_other_set_ups(SET_UPS, |set_up, options| run_with(SqliteHarness(set_up), options)))
}
