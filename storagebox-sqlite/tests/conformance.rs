//! The whole suite with fewer random runs. `STORAGEBOX_PROFILE=quick` makes as many as for the memory backend.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Profile, neighbour, run_with};
use support::{SetUp, SqliteHarness, be_a_worker_if_asked, open_beside};

fn main() -> ExitCode {
    let asked = neighbour(open_beside).or_else(be_a_worker_if_asked);
    asked.unwrap_or_else(|| run_with(SqliteHarness(SetUp::PLAIN), Profile::BRIEF))
}
