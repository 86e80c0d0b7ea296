//! The HTTP client for the service and for the sources of credentials. The client loads the CA certificates only for
//! the first `https://` address.

use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, OnceLock};

use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use rustls::RootCertStore;

/// One HTTP client for `http://`, and one for `https://`.
#[derive(Clone, Debug)]
pub(super) struct ByScheme {
    plain: SharedHttpClient,
    // Created by the first `https://` request, because the driver's own client may panic on a machine without CA
    // certificates.
    secure: Arc<OnceLock<SharedHttpClient>>,
}

impl ByScheme {
    pub(super) fn new() -> Self {
        Self { plain: Builder::new().build_http(), secure: Arc::default() }
    }

    fn secure(&self) -> Result<&SharedHttpClient, NoAuthorities> {
        match self.secure.get() {
            Some(client) => Ok(client),
            None => authorities().map(|()| self.secure.get_or_init(secure)),
        }
    }
}

fn secure() -> SharedHttpClient {
    Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https()
}

/// Checks that the machine has a CA certificate that the driver can read.
fn authorities() -> Result<(), NoAuthorities> {
    let machine = rustls_native_certs::load_native_certs();
    match RootCertStore::empty().add_parsable_certificates(machine.certs) {
        (0, _) => Err(NoAuthorities(machine.errors.iter().map(ToString::to_string).collect())),
        _ => Ok(()),
    }
}

/// The error of a machine without CA certificates, with the errors of the search for them.
#[derive(Debug)]
pub(crate) struct NoAuthorities(Vec<String>);

impl fmt::Display for NoAuthorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no CA certificate was found")?;
        self.0.iter().try_for_each(|error| write!(f, "; {error}"))
    }
}

impl StdError for NoAuthorities {}

impl HttpClient for ByScheme {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let (client, settings, components) = (self.clone(), settings.clone(), components.clone());
        SharedHttpConnector::new(Connector { client, settings, components })
    }
}

#[derive(Debug)]
struct Connector {
    client: ByScheme,
    settings: HttpConnectorSettings,
    components: RuntimeComponents,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let client = match request.uri().starts_with("http://") {
            true => Ok(&self.client.plain),
            false => self.client.secure(),
        };
        match client {
            Ok(client) => client.http_connector(&self.settings, &self.components).call(request),
            Err(none) => HttpConnectorFuture::ready(Err(ConnectorError::user(none.into()))),
        }
    }
}
