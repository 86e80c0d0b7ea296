//! The queues of any of the four transports.

use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, TryStreamExt};
use storagebox::async_trait;
use storagebox::messages::{BoxError, Destination, Dispatcher, Outgoing};
use storagebox_transports::{Delivery, NatsQueue, NatsQueues, PostgresQueues, RabbitQueue, RabbitQueues, RedisQueues};

use crate::copy::Copy;
use crate::failure::Failure;

/// For how long a message is a worker's. Short, because the messages of a worker that was killed come again after it.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

/// The pauses that a retry can have at a broker that needs a queue for each.
const PAUSES: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3)];

/// How many messages one call sends again at the most.
const REDRIVEN: u32 = 1_000;

#[derive(Clone, Debug)]
pub(crate) enum Queues {
    Nats(NatsQueues),
    Postgres(PostgresQueues),
    Rabbit(RabbitQueues),
    Redis(RedisQueues),
}

impl Queues {
    /// Connects to a broker by its URL.
    pub(crate) async fn connect(url: &str) -> Result<Self, Failure> {
        match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("nats" | "tls") => NatsQueues::connect(url).await.map(Self::Nats).map_err(Failure::Queues),
            Some("postgres" | "postgresql") => Ok(Self::Postgres(PostgresQueues::connect(url)?.lease(LEASE)?)),
            Some("amqp") => RabbitQueues::connect(url).await.map(Self::Rabbit).map_err(Failure::Queues),
            Some("redis" | "rediss") => Ok(Self::Redis(RedisQueues::connect(url)?.lease(LEASE)?)),
            _ => Err(Failure::NoTransport),
        }
    }

    /// Creates a queue, if it does not exist.
    pub(crate) async fn setup(&self, queue: &Destination) -> Result<(), BoxError> {
        match self {
            Self::Nats(nats) => nats.setup(&nats_queue(queue)).await,
            Self::Postgres(postgres) => Ok(postgres.setup().await?),
            Self::Rabbit(rabbit) => rabbit.setup(&rabbit_queue(queue)).await,
            Self::Redis(redis) => Ok(redis.setup(queue).await?),
        }
    }

    /// The messages of a queue, without their tokens if `bare`.
    pub(crate) fn deliveries(&self, queue: &Destination, bare: bool) -> BoxStream<'static, Result<Copy, BoxError>> {
        match self {
            Self::Nats(nats) => copies(nats.deliveries(&nats_queue(queue)), bare),
            Self::Postgres(postgres) => copies(postgres.deliveries(queue), bare),
            Self::Rabbit(rabbit) => copies(rabbit.deliveries(&rabbit_queue(queue)), bare),
            Self::Redis(redis) => copies(redis.deliveries(queue), bare),
        }
    }

    /// Sends the parked messages of a queue again. Returns how many.
    pub(crate) async fn redrive(&self, queue: &Destination) -> Result<u64, BoxError> {
        match self {
            Self::Nats(nats) => nats.redrive(&nats_queue(queue)).await,
            Self::Postgres(postgres) => Ok(postgres.redrive(queue, REDRIVEN).await?),
            Self::Rabbit(rabbit) => rabbit.redrive(&rabbit_queue(queue)).await,
            Self::Redis(redis) => Ok(redis.redrive(queue, REDRIVEN).await?),
        }
    }
}

#[async_trait]
impl Dispatcher for Queues {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        match self {
            Self::Nats(nats) => nats.dispatch(messages).await,
            Self::Postgres(postgres) => postgres.dispatch(messages).await,
            Self::Rabbit(rabbit) => rabbit.dispatch(messages).await,
            Self::Redis(redis) => redis.dispatch(messages).await,
        }
    }
}

fn copies<D: Delivery>(
    deliveries: impl Stream<Item = Result<D, BoxError>> + Send + 'static,
    bare: bool,
) -> BoxStream<'static, Result<Copy, BoxError>> {
    deliveries.map_ok(move |delivery| Copy::of(delivery, bare)).boxed()
}

fn nats_queue(queue: &Destination) -> NatsQueue {
    NatsQueue::new(queue.as_str()).lease(LEASE)
}

/// A message comes back each time that its worker is killed, and that is no reason to park it.
fn rabbit_queue(queue: &Destination) -> RabbitQueue {
    RabbitQueue::new(queue.as_str()).pauses(PAUSES).delivery_limit(10_000)
}
