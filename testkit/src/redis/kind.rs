//! Redis as one of the servers that tests need.

use super::{INSTALL, NAME, Redis, SERVER, Settings};
use crate::address::{Address, Form};
use crate::failure::Failure;
use crate::probe;
use crate::programs::{in_path, version_in};
use crate::server::{Image, Kind, Run, Started};

static FORM: Form = Form { text: "redis://USER:PASSWORD@HOST:PORT", scheme: "redis://", port: "6379" };

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
            url: |host, port| Address::new(&FORM, host, port).to_string(),
        },
    },
    local,
    shown: |url| Address::parse(&FORM, url).map(|address| address.to_string()),
    ask: |url| FORM.ask(url, |host, port| probe::redis(host, port).map(|()| None)),
};

fn local() -> Result<Started, Failure> {
    let server = Redis::start(&Settings::quick())?;
    let version = in_path(SERVER).and_then(|program| version_in(&program, "v="));
    Ok(Started { url: server.url(), version, guard: Box::new(server) })
}
