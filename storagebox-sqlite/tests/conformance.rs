//! The whole suite, with less of what is random: `STORAGEBOX_PROFILE=quick` for as much as memory's does.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Profile, neighbour, run_with};
use support::{SetUp, SqliteHarness, be_a_worker_if_asked, open_beside};

fn main() -> ExitCode {
    let asked = neighbour(open_beside).or_else(be_a_worker_if_asked);
    asked.unwrap_or_else(|| run_with(SqliteHarness(SetUp::PLAIN), Profile::BRIEF))
}
