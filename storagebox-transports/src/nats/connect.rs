//! Connects to the server, and records what the server refuses.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind};
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use storagebox_core::{BoxError, Error, ErrorKind, Result};

use crate::address::{Address, Form, Login};

const FORM: Form = Form {
    transport: "nats",
    schemes: &[("nats://", false), ("tls://", true)],
    beginning: "must be nats://user:password@host:port, or tls:// for encryption; commas separate a cluster's nodes",
    keys: &["tls"],
    instead: "sends the password to another machine unencrypted; write tls://, or tls=off to allow it",
};

/// The last refusal that the server reported.
#[derive(Clone, Default)]
pub(super) struct Refusals(Arc<Mutex<Option<String>>>);

impl Refusals {
    fn last(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn forget(&self) {
        *self.last() = None;
    }

    fn note(&self, event: &Event) {
        // Only a sender needs a right to another subject.
        let said = event.to_string();
        let is = |text: &str| said.to_ascii_lowercase().contains(text);
        if is("authorization violation") || is("permissions violation") && is("$js.") {
            *self.last() = Some(said);
        }
    }

    /// Converts an error of the driver. The cause is the last refusal of the server, if there is one.
    pub(super) fn explain(&self, error: BoxError) -> Error {
        // The server reports a refusal as an event, and leaves the refused call unanswered.
        if let Some(said) = self.last().take() {
            return denied().caused_by(said).on("nats");
        }
        let (kind, message) = match missing(&error) {
            true => (ErrorKind::NotSetUp, "the stream or its consumer does not exist"),
            false => (ErrorKind::Unavailable, "the server gave no message"),
        };
        Error::new(kind, message).caused_by(error).on("nats")
    }
}

fn denied() -> Error {
    Error::new(ErrorKind::Denied, "the server refused the login, or the user lacks a right; the cause says which")
}

fn missing(error: &BoxError) -> bool {
    let gone = [ErrorCode::CONSUMER_NOT_FOUND, ErrorCode::STREAM_NOT_FOUND];
    said(error).is_some_and(|said| gone.contains(&said.error_code()))
}

fn said(error: &BoxError) -> Option<jetstream::Error> {
    match error.downcast_ref::<ConsumerError>().map(ConsumerError::kind) {
        Some(ConsumerErrorKind::JetStream(said)) => return Some(said),
        Some(_) => return None,
        None => {}
    }
    match error.downcast_ref::<GetStreamError>().map(GetStreamError::kind) {
        Some(GetStreamErrorKind::JetStream(said)) => Some(said),
        _ => None,
    }
}

/// Returns the addresses without the login, and the login that all of them share.
fn read(text: &str) -> Result<(Vec<String>, Option<Login>)> {
    // The driver logs addresses.
    let (addresses, _) = FORM.read(text)?;
    let login = addresses.first().and_then(|address| address.login.clone());
    if addresses.iter().any(|address| address.login != login) {
        return Err(FORM.bad("must have the same user and password in each address"));
    }
    if addresses.iter().any(|address| address.path.as_ref().is_some_and(|path| !path.is_empty())) {
        return Err(FORM.bad("must have no path after the port"));
    }
    Ok((addresses.iter().map(bare).collect(), login))
}

fn bare(Address { is_encrypted, host, port, .. }: &Address) -> String {
    let scheme = if *is_encrypted { "tls" } else { "nats" };
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    format!("{scheme}://{host}:{}", port.unwrap_or(4222))
}

pub(super) async fn connect(text: &str) -> Result<(Client, Refusals)> {
    let (addresses, login) = read(text)?;
    let refusals = Refusals::default();
    let noted = refusals.clone();
    let options = ConnectOptions::new().tls_client_config(tls()?).event_callback(move |event| {
        noted.note(&event);
        async {}
    });
    // The driver also connects to servers that the first server names, and this option requires TLS of them too.
    let options = options.require_tls(addresses.iter().any(|address| address.starts_with("tls")));
    let options = match login {
        Some(Login { user, password: Some(password) }) => options.user_and_password(user, password),
        Some(Login { user: token, password: None }) => options.token(token),
        None => options,
    };
    let client = options.connect(addresses).await.map_err(unconnected)?;
    Ok((client, refusals))
}

/// Returns the TLS settings, with the ciphers that the process has chosen, or with the ciphers of `ring`.
fn tls() -> Result<ClientConfig> {
    // Without settings, the driver would choose the ciphers of the whole process.
    let chosen = CryptoProvider::get_default().cloned();
    let provider = chosen.unwrap_or_else(|| Arc::new(ring::default_provider()));
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config
        .map_err(|error| FORM.bad("needs a TLS version that the ciphers of the process support").caused_by(error))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn unconnected(error: ConnectError) -> Error {
    let refused = match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => denied(),
        ConnectErrorKind::Tls => Error::misconfigured("tls", "could not be negotiated; the cause says why"),
        _ => Error::new(ErrorKind::Unavailable, "the server could not be reached"),
    };
    refused.caused_by(error).on("nats")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_gets_addresses_without_a_login() {
        let (addresses, login) = read("nats://ann:hunter2@[::1],nats://ann:hunter2@localhost:7/").unwrap();
        assert_eq!(addresses, ["nats://[::1]:4222", "nats://localhost:7"]);
        assert!(login.is_some_and(|login| login.user == "ann" && login.password.as_deref() == Some("hunter2")));
        assert!(read("nats://localhost").unwrap().1.is_none());
    }

    #[test]
    fn invalid_nats_address_is_refused() {
        for text in
            ["nats://ann:a@[::1],nats://ann:b@[::1]", "nats://ann:a@[::1],nats://[::1]", "nats://[::1]/db", "ws://a"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
