//! Debian's packages of the servers.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use storagebox_testkit::pgbouncer;
use storagebox_testkit::postgres::Postgres;
use storagebox_testkit::programs::in_path;

use crate::command::captured;
use crate::failure::Failure;

/// What the tests start, and the package that brings it.
struct Program {
    is_there: fn() -> bool,
    package: &'static str,
}

const POSTGRES: &str = "postgresql";

const PROGRAMS: [Program; 4] = [
    Program { is_there: Postgres::is_installed, package: POSTGRES },
    Program { is_there: || in_path("psql").is_some(), package: "postgresql-client" },
    Program { is_there: pgbouncer::is_installed, package: "pgbouncer" },
    Program { is_there: || in_path("openssl").is_some(), package: "openssl" },
];

/// Installs what is missing; says what it did.
pub(crate) fn run() -> Result<String, Failure> {
    let packages = missing(&PROGRAMS);
    if packages.is_empty() {
        return Ok("nothing to install".to_owned());
    }
    apt_get(&["update"])?;
    if packages.contains(&POSTGRES) {
        install(&["postgresql-common"])?;
        without_a_cluster()?;
    }
    install(&packages)?;
    Ok(format!("installed {}", packages.join(", ")))
}

fn missing(programs: &[Program]) -> Vec<&'static str> {
    programs.iter().filter(|program| !(program.is_there)()).map(|program| program.package).collect()
}

fn install(packages: &[&str]) -> Result<(), Failure> {
    apt_get(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
}

/// It has nobody to ask.
fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
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
}
