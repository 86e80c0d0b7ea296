//! The servers: Debian's packages of them, and the one that cargo installs.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use storagebox_testkit::dynamodb::{self, Dynamo};
use storagebox_testkit::pgbouncer;
use storagebox_testkit::postgres::Postgres;
use storagebox_testkit::programs::in_path;
use storagebox_testkit::redis::Redis;

use crate::command::{captured, cargo};
use crate::failure::Failure;

/// What the tests start, and the package that brings it.
struct Program {
    is_there: fn() -> bool,
    package: &'static str,
}

const POSTGRES: &str = "postgresql";

const PROGRAMS: [Program; 5] = [
    Program { is_there: Postgres::is_installed, package: POSTGRES },
    Program { is_there: || in_path("psql").is_some(), package: "postgresql-client" },
    Program { is_there: pgbouncer::is_installed, package: "pgbouncer" },
    Program { is_there: || in_path("openssl").is_some(), package: "openssl" },
    Program { is_there: Redis::is_installed, package: "redis-server" },
];

const NOTHING: &str = "nothing to install";

/// Installs what is missing of the packages; says what it did.
pub(crate) fn packages() -> Result<String, Failure> {
    let packages = missing(&PROGRAMS);
    if packages.is_empty() {
        return Ok(NOTHING.to_owned());
    }
    apt_get(&["update"])?;
    if packages.contains(&POSTGRES) {
        install(&["postgresql-common"])?;
        without_a_cluster()?;
    }
    install(&packages)?;
    Ok(format!("installed {}", packages.join(", ")))
}

/// Builds dynoxide if it is missing, which takes about a minute; says what it did.
pub(crate) fn dynoxide() -> Result<String, Failure> {
    if Dynamo::is_installed() {
        return Ok(NOTHING.to_owned());
    }
    captured(dynoxide_by_cargo()).map(|_| "installed dynoxide".to_owned())
}

/// Cargo builds what it installs in a folder of its own, unless it is told where the workspace builds.
fn dynoxide_by_cargo() -> Command {
    let mut command = cargo(dynamodb::INSTALL.split_whitespace().skip(1));
    // Optimised: the suite waits for it all the time.
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2");
    command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
    command
}

fn missing(programs: &[Program]) -> Vec<&'static str> {
    programs.iter().filter(|program| !(program.is_there)()).map(|program| program.package).collect()
}

fn install(packages: &[&str]) -> Result<(), Failure> {
    apt_get(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
}

/// It has nobody to ask. At this run level no package starts the service that it brings.
fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    captured(command).map(drop)
}

/// Debian's package would make a cluster and start its server; the tests make their own. The last line counts.
fn without_a_cluster() -> Result<(), Failure> {
    let path = Path::new("/etc/postgresql-common/createcluster.conf");
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| writeln!(file, "create_main_cluster = false"))
        .map_err(|error| Failure::File { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_installed_again() {
        let programs = [
            Program { is_there: || true, package: "there" },
            Program { is_there: || false, package: "not-there" },
        ];
        assert_eq!(missing(&programs), ["not-there"]);
    }

    #[test]
    fn dynoxide_is_installed_as_the_failure_says() {
        let command = dynoxide_by_cargo();
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments[0], "install");
        assert_eq!(arguments[arguments.len() - 2..], ["--root", "target/tools"]);
        assert!(command.get_envs().any(|(name, value)| name == "CARGO_TARGET_DIR" && value.is_none()));
    }
}
