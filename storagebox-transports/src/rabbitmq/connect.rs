//! Connecting, and waiting for no longer than was said.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use lapin::types::ShortString;
use lapin::uri::AMQPUri;
use lapin::{Channel, Connection, ConnectionProperties};
use storagebox_core::BoxError;

const TIMEOUT: Duration = Duration::from_secs(30);
const FORM: &str = "the address is not amqp://USER:PASSWORD@HOST:PORT/VHOST";

/// Where the broker is, and how long its answers are waited for.
#[derive(Clone)]
pub(super) struct Access {
    address: Arc<AMQPUri>,
    pub(super) timeout: Duration,
}

impl Access {
    /// What is wrong with an address is not said: it may be that a part of the password was taken for something else.
    pub(super) fn new(address: &str) -> Result<Self, BoxError> {
        let address: AMQPUri = address.parse().map_err(|_| FORM)?;
        Ok(Self { address: Arc::new(address), timeout: TIMEOUT })
    }

    /// A channel on a new connection, which closes with the last channel of it.
    pub(super) async fn channel(&self) -> Result<Channel, BoxError> {
        let connection = self.connection().await?;
        self.in_time(connection.create_channel()).await
    }

    pub(super) async fn connection(&self) -> Result<Connection, BoxError> {
        let properties = ConnectionProperties::default().with_connection_name("storagebox".into());
        self.in_time(Connection::connect_uri((*self.address).clone(), properties)).await
    }

    /// The answer to a call, if it comes in time.
    pub(super) async fn in_time<T>(&self, call: impl Future<Output = lapin::Result<T>>) -> Result<T, BoxError> {
        let answer = tokio::time::timeout(self.timeout, call).await;
        let answer = answer.map_err(|_| format!("RabbitMQ did not answer within {:?}", self.timeout))?;
        answer.map_err(Into::into)
    }
}

/// A name as the protocol has it.
pub(super) fn short(text: impl Display) -> Result<ShortString, BoxError> {
    ShortString::try_new(text.to_string()).map_err(|_| "a name of RabbitMQ has at most 255 bytes".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_none_is_not_shown() {
        for address in ["secret", "http://ann:secret@host", "amqp://ann:secret@host:port"] {
            let error = Access::new(address).err().unwrap();
            assert_eq!(error.to_string(), FORM);
        }
        assert!(Access::new("amqp://ann:secret@host:5672/%2f").is_ok());
    }

    #[test]
    fn a_name_has_a_length() {
        assert!(short("x".repeat(255)).is_ok());
        assert!(short("x".repeat(256)).is_err());
    }
}
