//! The queues of any of the four transports.

use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, TryStreamExt};
use storagebox::async_trait;
use storagebox::messages::{BoxError, Destination, Dispatcher};
use storagebox_transports::{
    Delivery, Malformed, NatsQueue, NatsQueues, PostgresQueues, RabbitQueue, RabbitQueues, Received, RedisQueues,
    Settle,
};

use crate::failure::Failure;

/// The lease of a delivered message, after which the message of a killed worker is delivered again.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

/// The possible pauses before a retry at RabbitMQ, which needs a queue per pause.
const PAUSES: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3)];

/// The maximum number of parked messages that one call sends again.
const MAX_REDRIVEN: u32 = 1_000;

#[derive(Clone)]
pub(crate) enum Queues {
    Nats(NatsQueues),
    Postgres(PostgresQueues),
    Rabbit(RabbitQueues),
    Redis(RedisQueues),
}

impl Queues {
    pub(crate) async fn connect(url: &str) -> Result<Self, Failure> {
        match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("nats" | "tls") => Ok(Self::Nats(NatsQueues::connect(url).await?)),
            Some("postgres" | "postgresql") => Ok(Self::Postgres(PostgresQueues::connect(url)?.lease(LEASE)?)),
            Some("amqp") => Ok(Self::Rabbit(RabbitQueues::connect(url).await?)),
            Some("redis" | "rediss") => Ok(Self::Redis(RedisQueues::connect(url)?.lease(LEASE)?)),
            _ => Err(Failure::NoTransport),
        }
    }

    pub(crate) async fn setup(&self, queue: &Destination) -> Result<(), BoxError> {
        match self {
            Self::Nats(nats) => nats.setup(&nats_queue(queue)?).await,
            Self::Postgres(postgres) => Ok(postgres.setup().await?),
            Self::Rabbit(rabbit) => rabbit.setup(&rabbit_queue(queue)).await,
            Self::Redis(redis) => Ok(redis.setup(queue).await?),
        }
    }

    pub(crate) fn dispatcher(&self) -> &dyn Dispatcher {
        match self {
            Self::Nats(nats) => nats,
            Self::Postgres(postgres) => postgres,
            Self::Rabbit(rabbit) => rabbit,
            Self::Redis(redis) => redis,
        }
    }

    /// Returns the deliveries of a queue. Without `with_tokens`, the messages have no tokens.
    pub(crate) fn deliveries(&self, queue: &Destination, with_tokens: bool) -> Result<Deliveries, storagebox::Error> {
        Ok(match self {
            Self::Nats(nats) => boxed(nats.deliveries(&nats_queue(queue)?), with_tokens),
            Self::Postgres(postgres) => boxed(postgres.deliveries(queue), with_tokens),
            Self::Rabbit(rabbit) => boxed(rabbit.deliveries(&rabbit_queue(queue)), with_tokens),
            Self::Redis(redis) => boxed(redis.deliveries(queue), with_tokens),
        })
    }

    /// Sends the parked messages of a queue again.
    pub(crate) async fn redrive(&self, queue: &Destination) -> Result<u64, BoxError> {
        match self {
            Self::Nats(nats) => nats.redrive(&nats_queue(queue)?).await,
            Self::Postgres(postgres) => Ok(postgres.redrive(queue, MAX_REDRIVEN).await?),
            Self::Rabbit(rabbit) => rabbit.redrive(&rabbit_queue(queue)).await,
            Self::Redis(redis) => Ok(redis.redrive(queue, MAX_REDRIVEN).await?),
        }
    }
}

fn nats_queue(queue: &Destination) -> Result<NatsQueue, storagebox::Error> {
    NatsQueue::new(queue.as_str()).lease(LEASE)
}

/// Returns the settings of a queue.
fn rabbit_queue(queue: &Destination) -> RabbitQueue {
    // With a lower limit, a message whose workers are killed would be parked.
    RabbitQueue::new(queue.as_str()).pauses(PAUSES).delivery_limit(10_000)
}

type Deliveries = BoxStream<'static, Result<AnyDelivery, BoxError>>;

fn boxed<D: Delivery>(
    deliveries: impl Stream<Item = Result<D, BoxError>> + Send + 'static,
    with_tokens: bool,
) -> Deliveries {
    let boxed = move |delivery: D| {
        let received = delivery.received().cloned();
        let received = received.map(|received| Received { token: received.token.filter(|_| with_tokens), ..received });
        AnyDelivery { delivery: Box::new(delivery), received }
    };
    deliveries.map_ok(boxed).boxed()
}

/// A delivery of any transport, with or without the token of its message.
pub(crate) struct AnyDelivery {
    delivery: Box<dyn Delivery>,
    received: Result<Received, Malformed>,
}

#[async_trait]
impl Delivery for AnyDelivery {
    fn received(&self) -> Result<&Received, Malformed> {
        self.received.as_ref().map_err(Clone::clone)
    }

    fn attempt(&self) -> u32 {
        self.delivery.attempt()
    }

    fn lapsed(&self) -> Option<u32> {
        self.delivery.lapsed()
    }

    async fn begin_alone(&self) -> Result<(), BoxError> {
        self.delivery.begin_alone().await
    }

    async fn extend(&self, lease: Duration) -> Result<(), BoxError> {
        self.delivery.extend(lease).await
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        self.delivery.settle(settle).await
    }
}
