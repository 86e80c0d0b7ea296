//! PostgreSQL as one of the servers that tests need.

use std::io;
use std::process::{Command, Stdio};

use super::{INSTALL, LOGIN, NAME, Postgres, Settings};
use crate::failure::Failure;
use crate::probe;
use crate::programs::{first_number, in_path};
use crate::server::{Image, Kind, Run, Started};
use crate::url::Url;

pub(crate) static KIND: Kind = Kind {
    name: NAME,
    url_variable: "STORAGEBOX_TEST_POSTGRES_URL",
    install: INSTALL,
    image: Image {
        variable: "STORAGEBOX_TEST_POSTGRES_IMAGE",
        default: Some("postgres:17.6-alpine"),
        run: Run {
            port: 5432,
            environment: &[("POSTGRES_PASSWORD", LOGIN), ("POSTGRES_INITDB_ARGS", "--no-sync")],
            // The same as `Settings::quick`.
            command: &[
                "-c",
                "fsync=off",
                "-c",
                "synchronous_commit=off",
                "-c",
                "full_page_writes=off",
                "-c",
                "max_connections=300",
            ],
            url: |host, port| Url { host: host.to_owned(), ..Url::local(LOGIN, port) }.with_password(),
        },
    },
    local,
    shown: |url| Url::parse(url).map(|url| url.to_string()),
    ask,
};

fn local() -> Result<Started, Failure> {
    let server = Postgres::start(&Settings::quick())?;
    Ok(Started { url: server.url(), version: server.version(), guard: Box::new(server) })
}

fn ask(url: &str) -> io::Result<Option<String>> {
    let url = Url::parse(url).map_err(io::Error::other)?;
    probe::postgres(&url)?;
    Ok(version(&url))
}

/// Returns the server's version, or `None` if `psql` is not installed.
fn version(url: &Url) -> Option<String> {
    let Url { user, password, host, port, database } = url;
    let mut psql = Command::new(in_path("psql")?);
    psql.args(["-XAtq", "-h", host, "-p", &port.to_string(), "-U", user, "-d", database]);
    // The password must not appear in the list of processes.
    psql.args(["--no-password", "-c", "show server_version"]).env("PGPASSWORD", password);
    let output = psql.env("PGCONNECT_TIMEOUT", "5").stdin(Stdio::null()).output().ok()?;
    first_number(&String::from_utf8_lossy(&output.stdout))
}
