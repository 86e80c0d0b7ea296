//! NATS as one of the servers that tests need.

use super::{INSTALL, NAME, Nats};
use crate::address::{Address, Form};
use crate::failure::Failure;
use crate::probe;
use crate::server::{Image, Kind, Run, Started};

static FORM: Form = Form { text: "nats://USER:PASSWORD@HOST:PORT", scheme: "nats://", port: "4222" };

pub(crate) static KIND: Kind = Kind {
    name: NAME,
    url_variable: "STORAGEBOX_TEST_NATS_URL",
    install: INSTALL,
    image: Image {
        variable: "STORAGEBOX_TEST_NATS_IMAGE",
        default: Some("nats:2.12-alpine"),
        run: Run {
            port: 4222,
            environment: &[],
            command: &["--jetstream"],
            url: |host, port| Address::new(&FORM, host, port).to_string(),
        },
    },
    local,
    shown: |url| Address::parse(&FORM, url).map(|address| address.to_string()),
    ask: |url| FORM.ask(url, probe::nats),
};

fn local() -> Result<Started, Failure> {
    let server = Nats::start()?;
    let url = server.url();
    Ok(Started { version: KIND.version(&url), url, guard: Box::new(server) })
}
