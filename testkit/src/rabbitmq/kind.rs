//! RabbitMQ as one of the servers that tests need.

use super::{INSTALL, NAME, RabbitMq};
use crate::address::{Address, Form};
use crate::failure::Failure;
use crate::probe;
use crate::server::{Image, Kind, Run, Started};

static FORM: Form = Form { text: "amqp://USER:PASSWORD@HOST:PORT/VHOST", scheme: "amqp://", port: "5672" };

pub(crate) static KIND: Kind = Kind {
    name: NAME,
    url_variable: "STORAGEBOX_TEST_RABBITMQ_URL",
    install: INSTALL,
    image: Image {
        variable: "STORAGEBOX_TEST_RABBITMQ_IMAGE",
        default: Some("rabbitmq:4.1-alpine"),
        run: Run {
            port: 5672,
            environment: &[],
            command: &[],
            url: |host, port| Address::new(&FORM, host, port).to_string(),
        },
    },
    local,
    shown: |url| Address::parse(&FORM, url).map(|address| address.to_string()),
    ask: |url| FORM.ask(url, probe::rabbitmq),
};

fn local() -> Result<Started, Failure> {
    let server = RabbitMq::start()?;
    let url = server.url();
    Ok(Started { version: KIND.version(&url), url, guard: Box::new(server) })
}
