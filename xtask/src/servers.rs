//! The servers that the tests need.

use storagebox_testkit::{Failure as NoServer, Server, Way, servers};

use crate::failure::Failure;
use crate::workspace;

/// A package whose tests need a server, and the function that starts it.
struct Needed {
    package: &'static str,
    start: fn(Option<Way>) -> Result<Server, NoServer>,
}

/// The packages that need a server. The memory backend needs none.
const NEEDED: [Needed; 4] = [
    Needed { package: "storagebox-dynamo", start: servers::dynamodb },
    Needed { package: "storagebox-postgres", start: servers::postgres },
    Needed { package: "storagebox-redis", start: servers::redis },
    Needed { package: "storagebox-transports", start: servers::nats },
];

/// Starts the servers that the workspace's packages need, and prints them. They end when the value is dropped, or with
/// this process.
pub(crate) fn start(way: Option<Way>) -> Result<Vec<Server>, Failure> {
    let workspace = workspace::read("Cargo.toml")?;
    needed(&workspace).map(|needed| started(needed, way)).collect()
}

fn started(needed: &Needed, way: Option<Way>) -> Result<Server, Failure> {
    let server = (needed.start)(way)?;
    println!("{server}");
    Ok(server)
}

fn needed(workspace: &str) -> impl Iterator<Item = &'static Needed> {
    NEEDED.iter().filter(|needed| workspace::members(workspace).any(|member| member == needed.package))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_started_only_for_a_package_that_is_there() {
        assert_eq!(needed("members = [\n    \"storagebox-dynamo\",\n]").count(), 1);
        assert_eq!(needed("members = [\n    \"storagebox-memory\",\n]").count(), 0);
        assert_eq!(needed("members = [\n    \"storagebox-postgres\",\n    \"xtask\",\n]").count(), 1);
        assert_eq!(needed("members = [\n    \"storagebox-transports\",\n]").count(), 1);
    }
}
