//! Copies of a message elsewhere: parked, waiting for a retry, or sent again.

use lapin::Channel;
use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicGetOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use storagebox_core::BoxError;

use super::connect::short;
use super::{RabbitQueue, RabbitQueues, copies};

/// Puts a copy where parked messages are.
pub(super) async fn park(connection: &RabbitQueues, queue: &RabbitQueue, message: &Delivery) -> Result<(), BoxError> {
    let publisher = connection.publisher().await?;
    let properties = copies::anew(&message.properties);
    connection.send(&publisher, short(queue.parked_name())?, &message.data, properties).await?;
    connection.give_back(publisher);
    Ok(())
}

/// Puts a copy in the queue where it waits for its pause to end.
pub(super) async fn postpone(connection: &RabbitQueues, waiting: &str, message: &Delivery) -> Result<(), BoxError> {
    let publisher = connection.publisher().await?;
    let properties = copies::for_retry(&message.properties);
    connection.send(&publisher, short(waiting)?, &message.data, properties).await?;
    connection.give_back(publisher);
    Ok(())
}

/// Sends again what is parked now, the oldest first.
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

/// Sends one message again. False if none is parked.
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
