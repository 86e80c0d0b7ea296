//! Connects to the server, and records what the server refuses.

use std::sync::Arc;

use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind};
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use storagebox_core::{BoxError, Error, ErrorKind};
use tokio::sync::watch;

use super::NatsQueue;
use crate::address::{Address, Form, Login};

const FORM: Form = Form {
    transport: "nats",
    schemes: &[("nats://", false), ("tls://", true)],
    beginning: "must be nats://user:password@host:port, or tls:// for encryption; commas separate a cluster's nodes",
    keys: &["tls"],
    instead: "sends the password to another machine unencrypted; write tls://, or tls=off to allow it",
};

/// Parts of the subjects on which a worker reads.
const READS: [&str; 4] = [".consumer.info.", ".consumer.msg.next.", ".stream.info.", ".stream.msg.get."];

/// What the server refused. It reports a refusal as an event, and leaves the refused call unanswered.
#[derive(Clone, Default)]
pub(super) struct Refusals(Arc<watch::Sender<Last>>);

/// The last refusal of each kind. A refusal of any other call, such as a message that is sent, concerns only its caller.
#[derive(Default)]
struct Last {
    /// The refusal of the login, until the server accepts it.
    login: Option<String>,
    read: Option<String>,
    settlement: Option<String>,
}

impl Refusals {
    /// Forgets the refusals of earlier reads.
    pub(super) fn begin_to_read(&self) {
        self.0.send_modify(|last| last.read = None);
    }

    fn note(&self, event: &Event) {
        let said = event.to_string();
        let text = said.to_ascii_lowercase();
        let is_of = |subject: &str| text.contains("permissions violation") && text.contains(subject);
        self.0.send_modify(|last| match event {
            Event::Connected => last.login = None,
            _ if text.contains("authorization violation") => last.login = Some(said),
            _ if is_of("$js.ack.") => last.settlement = Some(said),
            _ if is_of("$js.api.") && READS.iter().any(|read| text.contains(read)) => last.read = Some(said),
            _ => {}
        });
    }

    /// Converts an error of a read of the queue. If the server refused the read, that is the cause.
    pub(super) fn explain(&self, error: BoxError, queue: &NatsQueue) -> Error {
        if missing(&error) {
            return Error::new(ErrorKind::NotSetUp, "the stream or its consumer does not exist")
                .caused_by(error)
                .on("nats");
        }
        let last = self.0.borrow();
        let read = last.read.as_ref().filter(|said| queue.reads().iter().any(|subject| said.contains(subject)));
        match last.login.as_ref().or(read) {
            Some(said) => denied(said.clone()),
            None => Error::new(ErrorKind::Unavailable, "the server gave no message").caused_by(error).on("nats"),
        }
    }

    /// Waits for the answer to a settlement. Returns an error if the server refuses the subject `reply` to the user.
    pub(super) async fn or_denied(
        &self,
        reply: &str,
        answer: impl Future<Output = Result<(), BoxError>>,
    ) -> Result<(), BoxError> {
        let mut refusals = self.0.subscribe();
        let subject = format!("\"{reply}\"");
        let is_it = |last: &Last| last.settlement.as_ref().is_some_and(|said| said.contains(&subject));
        tokio::select! {
            answer = answer => answer,
            Ok(last) = refusals.wait_for(is_it) => Err(denied(last.settlement.clone().unwrap_or_default()).into()),
        }
    }
}

fn denied(cause: impl Into<BoxError>) -> Error {
    let message = "the server refused the login, or the user lacks a right; the cause says which";
    Error::new(ErrorKind::Denied, message).caused_by(cause).on("nats")
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
fn read(text: &str) -> Result<(Vec<String>, Option<Login>), Error> {
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

pub(super) async fn connect(text: &str) -> Result<(Client, Refusals), Error> {
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
fn tls() -> Result<ClientConfig, Error> {
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
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => return denied(error),
        ConnectErrorKind::Tls => Error::misconfigured("tls", "could not be negotiated; the cause says why"),
        _ => Error::new(ErrorKind::Unavailable, "the server could not be reached"),
    };
    refused.caused_by(error).on("nats")
}

#[cfg(test)]
mod tests {
    use async_nats::ServerError;

    use super::*;

    fn refused(subject: &str) -> Event {
        Event::ServerError(ServerError::Other(format!("Permissions Violation for Publish to \"{subject}\"")))
    }

    /// Returns the kind of an error of a read of the queue `orders` after these events.
    fn explained(events: &[Event]) -> ErrorKind {
        let refusals = Refusals::default();
        events.iter().for_each(|event| refusals.note(event));
        refusals.explain("no heartbeat".into(), &NatsQueue::new("orders")).kind()
    }

    #[test]
    fn refusal_explains_only_errors_of_its_own_queue_and_read() {
        for subject in [
            "$JS.API.CONSUMER.INFO.orders.orders",
            "$JS.API.CONSUMER.MSG.NEXT.orders.orders",
            "$JS.API.STREAM.INFO.orders-runs",
            "$JS.API.STREAM.MSG.GET.orders-runs",
        ] {
            assert_eq!(explained(&[refused(subject)]), ErrorKind::Denied, "{subject}");
        }
        for subject in [
            "$JS.API.CONSUMER.INFO.others.others",
            "$JS.API.STREAM.INFO.orders",
            "$JS.API.STREAM.INFO.orders-parked",
            "$JS.API.STREAM.CREATE.orders",
            "$JS.API.STREAM.PURGE.orders-runs",
            "$JS.ACK.orders.orders.1.1.1.1.0",
            "orders",
        ] {
            assert_eq!(explained(&[refused(subject)]), ErrorKind::Unavailable, "{subject}");
        }
    }

    #[test]
    fn refused_login_explains_no_error_after_the_next_connection() {
        let refused = Event::ServerError(ServerError::AuthorizationViolation);
        assert_eq!(explained(std::slice::from_ref(&refused)), ErrorKind::Denied);
        assert_eq!(explained(&[refused, Event::Connected]), ErrorKind::Unavailable);
    }

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
