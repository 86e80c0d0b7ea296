//! The whole suite, with less of what is random: `STORAGEBOX_PROFILE=quick` for as much as memory's does.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Profile, run_with};
use support::{SetUp, SqliteHarness, be_a_worker_if_asked};

fn main() -> ExitCode {
    be_a_worker_if_asked().unwrap_or_else(|| run_with(SqliteHarness(SetUp::PLAIN), Profile::BRIEF))
}
