//! A part of the suite in every other set-up, or all of it: `STORAGEBOX_CLUSTER=everything` on a cluster.

mod support;

use std::env;
use std::process::ExitCode;

use storagebox_conformance::{Profile, Selection, run_with};
use support::{RedisHarness, SetUp};

const SET_UPS: [SetUp; 2] = [
    SetUp { name: "smoke, cluster", cluster: true, ..SetUp::PLAIN },
    SetUp { name: "smoke, cluster, each change on a replica", cluster: true, wait: 1 },
];

fn main() -> ExitCode {
    let everything = env::var("STORAGEBOX_CLUSTER").is_ok_and(|what| what == "everything");
    let selection = if everything { Selection::Everything } else { Selection::Smoke };
    let outcomes = SET_UPS.map(|set_up| {
        RedisHarness::with_server(set_up, |runtime, server| {
            let harness = runtime.block_on(RedisHarness::new(server, set_up))?;
            Ok(run_with(harness, Profile::SMOKE, selection))
        })
    });
    outcomes.into_iter().find(|outcome| *outcome != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}
