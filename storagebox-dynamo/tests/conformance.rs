//! The whole suite, with less of what is random: `STORAGEBOX_PROFILE=quick` for as much as other backends do
//! (`cargo xtask prove dynamo`).

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Profile, Selection, run_with};
use support::{DynamoHarness, SetUp};

fn main() -> ExitCode {
    DynamoHarness::with_table(|_, table| {
        let harness = DynamoHarness::new(table, SetUp::plain(), 0);
        Ok(run_with(harness, Profile::BRIEF, Selection::Everything))
    })
}
