//! Sends messages, with the broker's confirmation.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{BasicProperties, Channel, Confirmation, Connection, PublisherConfirm};
use storagebox_core::{BoxError, Dispatcher, Error, ErrorKind, Outgoing};

use super::RabbitQueues;
use super::connect::short;
use super::copies;

/// The maximum number of idle channels that are kept for later callers.
const IDLE: usize = 16;

/// The channels for sending, each for one caller at a time. A channel is closed if its caller fails or is dropped.
#[derive(Default)]
pub(super) struct Publishers {
    connection: tokio::sync::Mutex<Option<Connection>>,
    idle: Mutex<Vec<Channel>>,
}

impl Publishers {
    fn idle(&self) -> MutexGuard<'_, Vec<Channel>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RabbitQueues {
    pub(super) async fn check(&self) -> Result<(), BoxError> {
        let publisher = self.publisher().await?;
        self.give_back(publisher);
        Ok(())
    }

    /// Returns a channel on which the broker confirms each message.
    pub(super) async fn publisher(&self) -> Result<Channel, BoxError> {
        let idle = { self.publishers.idle().pop() };
        match idle.filter(|channel| channel.status().connected()) {
            Some(channel) => Ok(channel),
            None => self.new_publisher().await,
        }
    }

    async fn new_publisher(&self) -> Result<Channel, BoxError> {
        let mut held = self.publishers.connection.lock().await;
        let connection = match held.take().filter(|connection| connection.status().connected()) {
            Some(connection) => connection,
            None => self.access.connection().await?,
        };
        let channel = self.access.in_time(connection.create_channel()).await?;
        *held = Some(connection);
        drop(held);
        self.access.in_time(channel.confirm_select(ConfirmSelectOptions::default())).await?;
        Ok(channel)
    }

    /// Keeps a channel on which every call has succeeded, for the next caller.
    pub(super) fn give_back(&self, publisher: Channel) {
        let mut idle = self.publishers.idle();
        if idle.len() < IDLE {
            idle.push(publisher);
        }
    }

    pub(super) async fn declare(&self, publisher: &Channel, name: &str, arguments: FieldTable) -> Result<(), BoxError> {
        let declaration = publisher.queue_declare(short(name)?, QueueDeclareOptions::durable(), arguments);
        Ok(self.access.in_time(declaration).await.map(drop)?)
    }

    /// Sends one message and waits until a queue has stored it.
    pub(super) async fn send(
        &self,
        publisher: &Channel,
        queue: ShortString,
        body: &[u8],
        properties: BasicProperties,
    ) -> Result<(), BoxError> {
        let sent = self.begin(publisher, queue, body, properties).await?;
        self.confirmed(sent).await
    }

    async fn begin(
        &self,
        publisher: &Channel,
        queue: ShortString,
        body: &[u8],
        properties: BasicProperties,
    ) -> Result<PublisherConfirm, BoxError> {
        // If the queue does not exist, the broker returns a mandatory message and does not drop it.
        let options = BasicPublishOptions { mandatory: true, ..Default::default() };
        Ok(self.access.in_time(publisher.basic_publish("".into(), queue, options, body, properties)).await?)
    }

    async fn confirmed(&self, sent: PublisherConfirm) -> Result<(), BoxError> {
        match self.access.in_time(sent).await? {
            Confirmation::Ack(None) => Ok(()),
            Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)) => {
                Err(Error::new(ErrorKind::NotSetUp, "the queue of the message does not exist").on("rabbitmq").into())
            }
            Confirmation::Nack(None) | Confirmation::NotRequested => Err("RabbitMQ did not take the message".into()),
        }
    }

    async fn send_all(&self, publisher: &Channel, messages: &[Outgoing]) -> Result<(), BoxError> {
        let mut sent = Vec::with_capacity(messages.len());
        for message in messages {
            let (queue, properties) = (short(&message.destination)?, copies::of(message));
            sent.push(self.begin(publisher, queue, message.body.as_bytes(), properties).await?);
        }
        for message in sent {
            self.confirmed(message).await?;
        }
        Ok(())
    }
}

/// Sends each message to the queue that its destination names, and waits until that queue has it. A queue that does not
/// exist is an error.
#[async_trait]
impl Dispatcher for RabbitQueues {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        let publisher = self.publisher().await?;
        self.send_all(&publisher, messages).await?;
        self.give_back(publisher);
        Ok(())
    }
}
