//! Copies of a message in other queues: parked, waiting for a retry, or sent again.

use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicGetOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel};
use storagebox_core::{BoxError, Error, ErrorKind};

use super::connect::short;
use super::{RabbitQueue, RabbitQueues, copies};

pub(super) async fn park(connection: &RabbitQueues, queue: &RabbitQueue, message: &Delivery) -> Result<(), BoxError> {
    send(connection, queue, &queue.parked_name(), message, copies::anew(&message.properties)).await
}

/// Puts a copy into the queue of messages that must run alone.
pub(super) async fn set_apart(
    connection: &RabbitQueues,
    queue: &RabbitQueue,
    message: &Delivery,
) -> Result<(), BoxError> {
    send(connection, queue, &queue.alone_name(), message, copies::moved(&message.properties)).await
}

/// Puts a copy for a retry into the queue `waiting`, which is a queue with a pause or the main queue.
pub(super) async fn postpone(
    connection: &RabbitQueues,
    queue: &RabbitQueue,
    waiting: &str,
    message: &Delivery,
) -> Result<(), BoxError> {
    send(connection, queue, waiting, message, copies::for_retry(&message.properties)).await
}

/// Sends a copy to the queue `to`. If that queue is missing, creates all queues and sends the copy again.
async fn send(
    connection: &RabbitQueues,
    queue: &RabbitQueue,
    to: &str,
    message: &Delivery,
    properties: BasicProperties,
) -> Result<(), BoxError> {
    match send_to(connection, to, message, properties.clone()).await {
        Err(error) if is_gone(&error) => {
            connection.setup(queue).await?;
            tracing::warn!(queue = to, "the queue was missing and was created again");
            send_to(connection, to, message, properties).await
        }
        sent => sent,
    }
}

pub(super) fn is_gone(error: &BoxError) -> bool {
    error.downcast_ref().is_some_and(|error: &Error| error.kind() == ErrorKind::NotSetUp)
}

async fn send_to(
    connection: &RabbitQueues,
    queue: &str,
    message: &Delivery,
    properties: BasicProperties,
) -> Result<(), BoxError> {
    let publisher = connection.publisher().await?;
    connection.send(&publisher, short(queue)?, &message.data, properties).await?;
    connection.give_back(publisher);
    Ok(())
}

/// Sends all messages that are parked now back to the queue, the oldest first. Returns their number.
pub(super) async fn redrive(connection: &RabbitQueues, queue: &RabbitQueue) -> Result<u64, BoxError> {
    let channel = connection.publisher().await?;
    let options = QueueDeclareOptions::durable().passive();
    let parked = channel.queue_declare(short(queue.parked_name())?, options, FieldTable::default());
    let parked = connection.access.in_time(parked).await?.message_count();
    let mut count = 0;
    while count < u64::from(parked) && send_again(connection, &channel, queue).await? {
        count += 1;
    }
    connection.give_back(channel);
    Ok(count)
}

/// Sends the oldest parked message back to the queue. Returns false if no message is parked.
async fn send_again(connection: &RabbitQueues, channel: &Channel, queue: &RabbitQueue) -> Result<bool, BoxError> {
    let options = BasicGetOptions { no_ack: false };
    let message = connection.access.in_time(channel.basic_get(short(queue.parked_name())?, options)).await?;
    let Some(message) = message else {
        return Ok(false);
    };
    let properties = copies::anew(&message.properties);
    connection.send(channel, short(queue.name())?, &message.data, properties).await?;
    connection.access.in_time(message.acker.ack(BasicAckOptions::default())).await?;
    Ok(true)
}
