//! DynamoDB as one of the servers that tests need.

use std::io;

use super::url::Url;
use super::{Data, Dynamo, INSTALL, NAME};
use crate::failure::Failure;
use crate::probe;
use crate::server::{Image, Kind, Run, Started};

pub(crate) static KIND: Kind = Kind {
    name: NAME,
    url_variable: "STORAGEBOX_TEST_DYNAMO_URL",
    install: INSTALL,
    image: Image {
        variable: "STORAGEBOX_TEST_DYNAMO_IMAGE",
        // The licence of DynamoDB Local is between Amazon and its account holder, so we use no image that the user has
        // not named.
        default: None,
        run: Run { port: 8000, environment: &[], command: &[], url: |host, port| Url::local(host, port).to_string() },
    },
    local,
    shown: |url| Url::parse(url).map(|url| url.to_string()),
    ask,
};

fn local() -> Result<Started, Failure> {
    let server = Dynamo::start(Data::InMemory)?;
    let url = server.url();
    Ok(Started { version: KIND.version(&url), url, guard: Box::new(server) })
}

/// Returns the name that the server at the URL reports.
fn ask(url: &str) -> io::Result<Option<String>> {
    match Url::parse(url).map_err(io::Error::other)?.server {
        Some(server) => Ok(probe::dynamodb(&server.host, server.port)?.map(|name| format!("by {name}"))),
        // Without a key there is nothing to ask, and Amazon's own service exists.
        None => Ok(Some("by Amazon".to_owned())),
    }
}
