//! The whole suite, as a user with the least rights and with less of what is random: `STORAGEBOX_PROFILE=quick` for as
//! much as memory's does.

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
