//! The whole suite.

mod support;

use std::process::ExitCode;

use storagebox_conformance::run;
use support::{DynamoHarness, SetUp};

fn main() -> ExitCode {
    DynamoHarness::with_table(|_, table| Ok(run(DynamoHarness::new(table, SetUp::plain(), 0))))
}
