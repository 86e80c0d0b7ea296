//! The servers that the tests need.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::command::{captured, shown};
use crate::failure::Failure;

/// A command that the tests start, and the Debian package that brings it.
struct Server {
    command: &'static str,
    package: &'static str,
}

/// The memory backend needs none.
const SERVERS: [Server; 0] = [];

/// Installs what is missing; says what it did.
pub(crate) fn install() -> Result<String, Failure> {
    let packages = missing(&SERVERS, is_there);
    if packages.is_empty() {
        return Ok(format!("{} servers needed, nothing to install", SERVERS.len()));
    }
    let mut update = Command::new("apt-get");
    update.arg("update");
    captured(update)?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends"]).args(&packages);
    shown(install)?;
    Ok(format!("installed {}", packages.join(", ")))
}

fn missing(servers: &[Server], is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    servers.iter().filter(|server| !is_there(server.command)).map(|server| server.package).collect()
}

fn is_there(command: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| Path::new(&folder).join(command).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_installed_again() {
        let servers = [
            Server { command: "sh", package: "dash" },
            Server { command: "no-such-server", package: "no-such-package" },
        ];
        assert_eq!(missing(&servers, is_there), ["no-such-package"]);
    }
}
