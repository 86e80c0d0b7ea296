//! Redis as one of the servers that tests need.

use std::io;

use super::url::Url;
use super::{INSTALL, NAME, Redis, SERVER, Settings};
use crate::failure::Failure;
use crate::probe;
use crate::programs::{in_path, version_in};
use crate::server::{Image, Kind, Run, Started};

pub(crate) static KIND: Kind = Kind {
    name: NAME,
    url_variable: "STORAGEBOX_TEST_REDIS_URL",
    install: INSTALL,
    image: Image {
        variable: "STORAGEBOX_TEST_REDIS_IMAGE",
        default: Some("valkey/valkey:8.1-alpine"),
        run: Run {
            port: 6379,
            environment: &[],
            // The same as `Settings::quick`.
            command: &["valkey-server", "--save", "", "--appendonly", "no"],
            url: |host, port| Url { host: host.to_owned(), port }.to_string(),
        },
    },
    local,
    shown: |url| Url::parse(url).map(|url| url.to_string()),
    probe: |url| Url::parse(url).map_err(io::Error::other).and_then(|url| probe::redis(&url.host, url.port)),
    // The suite reads the version itself.
    version: |_| None,
};

fn local() -> Result<Started, Failure> {
    let server = Redis::start(&Settings::quick())?;
    let version = in_path(SERVER).and_then(|program| version_in(&program, "v="));
    Ok(Started { url: server.url(), version, guard: Box::new(server) })
}
