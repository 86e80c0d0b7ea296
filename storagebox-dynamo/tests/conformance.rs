//! The whole suite, with as few random runs as still find every broken store. `STORAGEBOX_PROFILE=quick` makes as many
//! random runs as for the memory backend (`cargo xtask prove dynamo`).

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Profile, neighbour, run_with};
use support::{DynamoHarness, SetUp, open_beside};

fn main() -> ExitCode {
    neighbour(open_beside).unwrap_or_else(suite)
}

fn suite() -> ExitCode {
    DynamoHarness::with_table(|_, table| {
        let harness = DynamoHarness::new(table, SetUp::plain(), 0);
        Ok(run_with(harness, Profile::SMOKE))
    })
}
