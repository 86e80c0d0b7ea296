//! The programs that the tests start, and the message if they are missing.

use std::fmt;

use storagebox_testkit::nats::Nats;
use storagebox_testkit::pgbouncer;
use storagebox_testkit::postgres::Postgres;
use storagebox_testkit::programs::in_path;
use storagebox_testkit::redis::Redis;

/// A program that the tests start, the Debian package that contains it, and how to get it elsewhere.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) is_there: fn() -> bool,
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) elsewhere: &'static str,
}

pub(crate) const POSTGRES: &str = "postgresql";

pub(crate) const PROGRAMS: [Program; 6] = [
    Program {
        is_there: Postgres::is_installed,
        name: "PostgreSQL",
        package: POSTGRES,
        elsewhere: "brew install postgresql@15",
    },
    Program {
        is_there: || in_path("psql").is_some(),
        name: "psql",
        package: "postgresql-client",
        elsewhere: "brew install libpq",
    },
    Program {
        is_there: pgbouncer::is_installed,
        name: "PgBouncer",
        package: "pgbouncer",
        elsewhere: "brew install pgbouncer",
    },
    Program {
        is_there: || in_path("openssl").is_some(),
        name: "OpenSSL",
        package: "openssl",
        elsewhere: "brew install openssl",
    },
    Program { is_there: Redis::is_installed, name: "Redis", package: "redis-server", elsewhere: "brew install redis" },
    Program {
        is_there: Nats::is_installed,
        name: "NATS",
        package: "nats-server",
        elsewhere: "brew install nats-server",
    },
];

/// Programs that are missing and that this user may not install.
#[derive(Debug)]
pub(crate) struct Lacking(pub(crate) Vec<Program>);

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
    fn what_is_lacking_is_named_with_what_to_do() {
        let lacking =
            Program { is_there: || false, name: "Lacking", package: "lacking", elsewhere: "brew install lacking" };
        let text = Lacking(vec![lacking]).to_string();
        for part in ["Lacking (Debian: apt-get install lacking; macOS: brew", "cargo xtask test --servers none"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
