//! A part of the suite in every other set-up, or all of it: `STORAGEBOX_CLUSTER=everything` on a cluster.

mod support;

use std::env;
use std::process::ExitCode;

use storagebox_conformance::{Options, Profile, Selection, run_with};
use support::{RedisHarness, Servers, SetUp};

const SET_UPS: [SetUp; 5] = [
    SetUp { name: "smoke, pool", pool: Some(8), ..SetUp::PLAIN },
    SetUp { name: "smoke, TLS", servers: Servers::Tls, ..SetUp::PLAIN },
    SetUp { name: "smoke, Sentinel", servers: Servers::Sentinels, ..SetUp::PLAIN },
    SetUp { name: "smoke, cluster", servers: Servers::Cluster, ..SetUp::PLAIN },
    SetUp { name: "smoke, cluster, each change on a replica", servers: Servers::Cluster, wait: 1, ..SetUp::PLAIN },
];

fn main() -> ExitCode {
    let everything = env::var("STORAGEBOX_CLUSTER").is_ok_and(|what| what == "everything");
    let outcomes = SET_UPS.map(|set_up| {
        let whole = everything && set_up.servers == Servers::Cluster;
        let selection = if whole { Selection::Everything } else { Selection::Smoke };
        RedisHarness::with_server(set_up, |runtime, server| {
            let harness = runtime.block_on(RedisHarness::new(server, set_up))?;
            Ok(run_with(harness, Options::new(Profile::SMOKE).selection(selection)))
        })
    });
    outcomes.into_iter().find(|outcome| *outcome != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}
