//! The servers that the tests need.

use anyhow::Result;
use storagebox_testkit::{Failure, Server, Way, servers};

type Start = fn(Option<Way>) -> Result<Server, Failure>;

/// Starts a server of each kind, and prints a line about each. Dropping the returned list ends the servers, and
/// so does the end of this process.
pub(crate) fn start(way: Option<Way>) -> Result<Vec<Server>> {
    let kinds: [Start; 4] = [servers::dynamodb, servers::postgres, servers::redis, servers::nats];
    let mut running = vec![];
    for start in kinds {
        let server = start(way)?;
        println!("{server}");
        running.push(server);
    }
    Ok(running)
}
