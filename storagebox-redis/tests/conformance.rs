//! The whole suite, as a user with the least rights.

mod support;

use std::process::ExitCode;

use storagebox_conformance::run;
use support::{RedisHarness, SetUp};

fn main() -> ExitCode {
    RedisHarness::with_server(SetUp::PLAIN, |runtime, server| {
        Ok(run(runtime.block_on(RedisHarness::new(server, SetUp::PLAIN))?))
    })
}
