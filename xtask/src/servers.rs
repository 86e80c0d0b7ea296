//! The servers that the tests need.

use anyhow::Result;
use storagebox_testkit::{Failure, Server, Way, servers};

/// Starts a server of each kind, and prints it. The servers end when the value is dropped, or with this process.
pub(crate) fn start(way: Option<Way>) -> Result<Vec<Server>> {
    let kinds: [fn(Option<Way>) -> Result<Server, Failure>; 4] =
        [servers::dynamodb, servers::postgres, servers::redis, servers::nats];
    let mut running = vec![];
    for start in kinds {
        let server = start(way)?;
        println!("{server}");
        running.push(server);
    }
    Ok(running)
}
