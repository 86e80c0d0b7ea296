//! The whole suite, as the user with the least rights, with fewer random cases. `STORAGEBOX_PROFILE=quick` runs as many
//! as the memory backend's tests.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{Profile, neighbour, run_with};
use support::{RedisHarness, SetUp, open_beside};

fn main() -> ExitCode {
    neighbour(open_beside).unwrap_or_else(suite)
}

fn suite() -> ExitCode {
    RedisHarness::with_server(SetUp::PLAIN, |runtime, server| {
        let harness = runtime.block_on(RedisHarness::new(server, SetUp::PLAIN))?;
        Ok(run_with(harness, Profile::BRIEF))
    })
}
