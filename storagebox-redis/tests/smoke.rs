//! Part of the suite in every other configuration, or all of it with `STORAGEBOX_SET_UPS=everything`.

mod support;

use std::process::ExitCode;

use storagebox_conformance::{neighbour, run_with};
use storagebox_testkit::checks::harness::in_other_set_ups;
use support::{RedisHarness, Servers, SetUp, open_beside};

const SET_UPS: [SetUp; 5] = [
    SetUp { name: "smoke, pool", pool: Some(8), ..SetUp::PLAIN },
    SetUp { name: "smoke, TLS", servers: Servers::Tls, ..SetUp::PLAIN },
    SetUp { name: "smoke, Sentinel", servers: Servers::Sentinels, ..SetUp::PLAIN },
    SetUp { name: "smoke, cluster", servers: Servers::Cluster, ..SetUp::PLAIN },
    SetUp { name: "smoke, cluster, each change on a replica", servers: Servers::Cluster, wait: 1, ..SetUp::PLAIN },
];

fn main() -> ExitCode {
    neighbour(open_beside).unwrap_or_else(suites)
}

fn suites() -> ExitCode {
    in_other_set_ups(SET_UPS, |set_up, options| {
        RedisHarness::with_server(set_up, |runtime, server| {
            let harness = runtime.block_on(RedisHarness::new(server, set_up))?;
            Ok(run_with(harness, options))
        })
    })
}
