//! The servers that the tests need.

use anyhow::Result;
use storagebox_testkit::{Failure, Server, Way, servers};

/// Starts a server of one kind.
type Start = fn(Option<Way>) -> Result<Server, Failure>;

/// Starts a server of each kind, and prints a line about each. The servers end when the returned list is dropped, or
/// with this process.
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
