#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

#[cfg(any(feature = "nats", feature = "rabbitmq"))]
mod address;
mod consume;
mod delivery;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "rabbitmq")]
mod rabbitmq;
#[cfg(any(feature = "postgres", feature = "redis-streams"))]
mod reader;
#[cfg(any(feature = "nats", feature = "rabbitmq"))]
mod reconnect;
#[cfg(feature = "redis-streams")]
mod redis_streams;
#[cfg(any(feature = "nats", feature = "postgres", feature = "rabbitmq", feature = "redis-streams"))]
mod wire;

pub use consume::{ConsumeOptions, Consumed, consume};
pub use delivery::{Delivery, Malformed, Received, Settle};
#[cfg(feature = "nats")]
pub use nats::{NatsDelivery, NatsQueue, NatsQueues};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresDelivery, PostgresQueues};
#[cfg(feature = "rabbitmq")]
pub use rabbitmq::{RabbitDelivery, RabbitQueue, RabbitQueues};
#[cfg(feature = "redis-streams")]
pub use redis_streams::{RedisDelivery, RedisQueues};
