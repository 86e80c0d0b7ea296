//! Connects to the broker, and limits the time of each call.

use std::cell::RefCell;
use std::fmt::Display;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lapin::auth::AuthProvider;
use lapin::runtime::default_runtime;
use lapin::tcp::{AMQPUriTcpExt, TLSConfig};
use lapin::types::{LongString, ShortString};
use lapin::uri::{AMQPAuthority, AMQPQueryString, AMQPUri};
use lapin::{Channel, Connection, ConnectionProperties};
use storagebox_core::backend::url::number;
use storagebox_core::{BoxError, Error, ErrorKind, Result};
use tracing::Dispatch;
use tracing::dispatcher::{DefaultGuard, set_default};

use crate::address::{Form, Login};

const TIMEOUT: Duration = Duration::from_secs(30);

const FORM: Form = Form {
    transport: "rabbitmq",
    schemes: &[("amqp://", false)],
    beginning: "must be amqp://user:password@host:port/vhost; TLS is not supported",
    keys: &["channel_max", "frame_max", "heartbeat", "tls"],
    instead: "sends the password to another machine unencrypted; write tls=off to allow it, as inside a tunnel",
};

#[derive(Clone)]
pub(super) struct Access {
    address: Arc<AMQPUri>,
    login: Arc<Login>,
    pub(super) timeout: Duration,
}

impl Access {
    pub(super) fn new(text: &str) -> Result<Self> {
        let (mut addresses, pairs) = FORM.read(text)?;
        let address = addresses.pop().filter(|_| addresses.is_empty()).ok_or_else(|| FORM.bad("must name one host"))?;
        if address.path.is_some() && text.split('?').next().is_some_and(|text| text.matches('/').count() > 3) {
            return Err(FORM.bad("has a slash in its virtual host; write it as %2F"));
        }
        let authority = AMQPAuthority { host: address.host, port: address.port.unwrap_or(5672), ..Default::default() };
        let vhost = address.path.unwrap_or_else(|| "/".to_owned());
        let uri = AMQPUri { authority, vhost, query: query(&pairs)?, ..Default::default() };
        Ok(Self { address: Arc::new(uri), login: Arc::new(address.login.unwrap_or_else(guest)), timeout: TIMEOUT })
    }

    /// Opens a channel on a new connection, which closes with its last channel.
    pub(super) async fn channel(&self) -> Result<Channel> {
        let connection = self.connection().await?;
        self.in_time(connection.create_channel()).await
    }

    pub(super) async fn connection(&self) -> Result<Connection> {
        let properties = ConnectionProperties::default().with_connection_name("storagebox".into());
        let properties = properties.with_auth_provider(Plain(Arc::clone(&self.login)));
        let dialed = async |uri: AMQPUri, runtime| {
            hush();
            uri.connect_with_config_async(TLSConfig::default(), &runtime).await.map_err(Into::into)
        };
        let runtime = default_runtime().map_err(error)?;
        self.in_time(Connection::connector((*self.address).clone(), runtime, dialed, properties)).await
    }

    /// Waits for the answer to a call. Returns an error after the timeout.
    pub(super) async fn in_time<T>(&self, call: impl Future<Output = lapin::Result<T>>) -> Result<T> {
        self.in_time_or(call, error).await
    }

    /// Waits for the answer to a settlement, with the timeout of [`Self::in_time`].
    pub(super) async fn settled_in_time<T>(&self, call: impl Future<Output = lapin::Result<T>>) -> Result<T> {
        self.in_time_or(call, of_consumer).await
    }

    async fn in_time_or<T>(
        &self,
        call: impl Future<Output = lapin::Result<T>>,
        error: fn(lapin::Error) -> Error,
    ) -> Result<T> {
        let answer = tokio::time::timeout(self.timeout, call).await;
        let late = |_| Error::unknown(format!("there was no answer within {:?}", self.timeout)).on("rabbitmq");
        answer.map_err(late)?.map_err(error)
    }
}

/// Returns the default login, which a broker accepts from its own machine.
fn guest() -> Login {
    Login { user: "guest".to_owned(), password: Some("guest".to_owned()) }
}

fn query(pairs: &[(&str, &str)]) -> Result<AMQPQueryString> {
    let mut query = AMQPQueryString::default();
    for (key, value) in pairs {
        match *key {
            "channel_max" => query.channel_max = Some(number("channel_max", value)?),
            "frame_max" => query.frame_max = Some(number("frame_max", value)?),
            _ => query.heartbeat = Some(number("heartbeat", value)?),
        }
    }
    Ok(query)
}

/// A login that the debug output of the driver does not show.
struct Plain(Arc<Login>);

impl AuthProvider for Plain {
    fn mechanism(&self) -> ShortString {
        "PLAIN".into()
    }

    fn auth_starter(&self) -> Result<LongString, String> {
        let Login { user, password } = &*self.0;
        Ok(format!("\0{user}\0{}", password.as_deref().unwrap_or_default()).into())
    }
}

thread_local! {
    static HUSHED: RefCell<Option<DefaultGuard>> = const { RefCell::new(None) };
}

/// Suppresses the log lines of the driver's thread.
fn hush() {
    // At `TRACE`, the driver logs each frame, also the frame with the password.
    if thread::current().name() == Some("lapin-io-loop") {
        HUSHED.with_borrow_mut(|hushed| *hushed = Some(set_default(&Dispatch::none())));
    }
}

/// The meaning of the broker's reply codes. A call that ends with a code outside this list may have been applied.
const CODES: &[(u16, ErrorKind, &str)] = &[
    (403, ErrorKind::Denied, "the broker refused the login, or the user lacks a right; the cause says which"),
    (404, ErrorKind::NotSetUp, "the queue does not exist"),
    (405, ErrorKind::Contention, "another connection has exclusive use of the queue"),
    (406, ErrorKind::Corrupt, "the queue differs from the queue that `setup` creates; the cause says how"),
    (540, ErrorKind::Unsupported, "the broker does not know the call; it needs RabbitMQ 3.10 or later"),
];

pub(super) fn error(error: lapin::Error) -> Error {
    let (kind, message) = match error.kind() {
        lapin::ErrorKind::ProtocolError(said) if said.get_id() == 530 => of_vhost(said.get_message().as_str()),
        lapin::ErrorKind::ProtocolError(said) => CODES
            .iter()
            .find(|(code, ..)| *code == said.get_id())
            .map_or((ErrorKind::OutcomeUnknown, "the broker ended the call"), |(_, kind, message)| (*kind, *message)),
        _ => (ErrorKind::OutcomeUnknown, "the connection or the answer was lost"),
    };
    Error::new(kind, message).caused_by(error).on("rabbitmq")
}

/// Converts an error of a consumer, or of the settlement of one of its messages.
pub(super) fn of_consumer(error: lapin::Error) -> Error {
    match error.kind() {
        // After `consumer_timeout`, the broker closes the channel with the code that a wrong declaration has.
        lapin::ErrorKind::ProtocolError(said) if said.get_id() == 406 => {
            let message = "the broker closed the channel; its messages come again, and the cause says why";
            Error::unknown(message).caused_by(error).on("rabbitmq")
        }
        _ => self::error(error),
    }
}

fn of_vhost(said: &str) -> (ErrorKind, &'static str) {
    match said.contains("not found") {
        true => (ErrorKind::NotSetUp, "the virtual host does not exist"),
        false => (ErrorKind::Denied, "the user may not use the virtual host"),
    }
}

/// Converts a text to the protocol's string of at most 255 bytes.
pub(super) fn short(text: impl Display) -> Result<ShortString, BoxError> {
    ShortString::try_new(text.to_string()).map_err(|_| "a RabbitMQ name must have at most 255 bytes".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_for_an_invalid_rabbitmq_address_does_not_show_it() {
        for address in [
            "hunter2",
            "http://ann:hunter2@localhost",
            "amqps://ann:hunter2@localhost",
            "amqp://ann:hunter2@localhost:port",
            "amqp://ann:hunter2@localhost,amqp://ann:hunter2@localhost",
            "amqp://ann:hunter2@localhost/a/b",
            "amqp://ann:hunter2@localhost?heartbeat=hunter2",
            "amqp://ann:hunter2@localhost?frame_min=hunter2",
            "amqp://ann:hunter2@broker.example.com",
        ] {
            let error = Access::new(address).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{address}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn every_component_of_a_rabbitmq_address_is_read() {
        let access = Access::new("amqp://ann:secret@[::1]:7/a%2fb?heartbeat=9").unwrap();
        let AMQPAuthority { host, port, userinfo } = &access.address.authority;
        assert_eq!((host.as_str(), *port, access.address.vhost.as_str()), ("::1", 7, "a/b"));
        assert_eq!(access.address.query.heartbeat, Some(9));
        assert_eq!(Plain(access.login.clone()).auth_starter().unwrap().as_bytes(), b"\0ann\0secret");
        assert_ne!(userinfo.username, "ann");
        let access = Access::new("amqp://localhost").unwrap();
        assert_eq!((access.address.vhost.as_str(), access.login.user.as_str()), ("/", "guest"));
    }

    #[test]
    fn rabbitmq_name_over_255_bytes_is_refused() {
        assert!(short("x".repeat(255)).is_ok());
        assert!(short("x".repeat(256)).is_err());
    }
}
