//! The programs that the tests start, and the message if they are missing.

use std::fmt;

use storagebox_testkit::nats::Nats;
use storagebox_testkit::pgbouncer;
use storagebox_testkit::postgres::Postgres;
use storagebox_testkit::programs::in_path;
use storagebox_testkit::redis::Redis;

/// A program that the tests start, the Debian package that contains it, and the command that installs it on macOS.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) elsewhere: &'static str,
}

pub(crate) const POSTGRES: &str = "postgresql";

pub(crate) fn missing() -> Vec<Program> {
    let in_path = |name| in_path(name).is_some();
    let programs = [
        (Postgres::is_installed(), "PostgreSQL", POSTGRES, "brew install postgresql@15"),
        (in_path("psql"), "psql", "postgresql-client", "brew install libpq"),
        (pgbouncer::is_installed(), "PgBouncer", "pgbouncer", "brew install pgbouncer"),
        (in_path("openssl"), "OpenSSL", "openssl", "brew install openssl"),
        (Redis::is_installed(), "Redis", "redis-server", "brew install redis"),
        (Nats::is_installed(), "NATS", "nats-server", "brew install nats-server"),
    ];
    let missing = programs.into_iter().filter(|(is_installed, ..)| !is_installed);
    missing.map(|(_, name, package, elsewhere)| Program { name, package, elsewhere }).collect()
}

/// Programs that are missing and that this user may not install.
#[derive(Debug)]
pub(crate) struct Lacking(pub(crate) Vec<Program>);

impl std::error::Error for Lacking {}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let programs = self.0.iter().map(|Program { name, package, elsewhere, .. }| {
            format!("{name} (Debian: apt-get install {package}; macOS: {elsewhere})")
        });
        let programs = programs.collect::<Vec<_>>().join(", ");
        write!(
            f,
            "The tests need {programs}, which this machine lacks and which only root or sudo can install with \
             apt-get; without them, this runs every test that needs no server:\n\n    \
             cargo xtask test --servers none"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_install_advice() {
        let lacking = Program { name: "Lacking", package: "lacking", elsewhere: "brew install lacking" };
        let text = Lacking(vec![lacking]).to_string();
        for part in ["Lacking (Debian: apt-get install lacking; macOS: brew", "cargo xtask test --servers none"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
