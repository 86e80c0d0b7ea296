//! The whole suite.

mod support;

use std::process::ExitCode;

use storagebox_conformance::run;
use support::{SetUp, SqliteHarness, be_a_worker_if_asked};

fn main() -> ExitCode {
    be_a_worker_if_asked().unwrap_or_else(|| run(SqliteHarness(SetUp::PLAIN)))
}
