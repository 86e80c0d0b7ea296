//! A broker that a run starts, and may kill.

use std::sync::Arc;

use storagebox_testkit::nats::Nats;
use storagebox_testkit::postgres::{self, Postgres};
use storagebox_testkit::rabbitmq::RabbitMq;
use storagebox_testkit::redis::{self, Redis};
use tokio::task::spawn_blocking;

use crate::failure::Failure;

/// The names of the servers that can be started.
pub(crate) const SERVERS: [&str; 4] = ["redis", "postgres", "nats", "rabbitmq"];

pub(crate) enum Server {
    Nats(Nats),
    Postgres(Postgres),
    RabbitMq(RabbitMq),
    Redis(Redis),
}

impl Server {
    /// Starts the server with this name, or returns `None` for the URL of a running server.
    pub(crate) async fn start(name: &str) -> Result<Option<Arc<Self>>, Failure> {
        let name = name.to_owned();
        let started = spawn_blocking(move || match name.as_str() {
            "redis" => Redis::start(&redis::Settings::durable()).map(Self::Redis).map(Some),
            // Each worker has two pools of connections.
            "postgres" => Postgres::start(&postgres::Settings::durable().with("max_connections", "400"))
                .map(Self::Postgres)
                .map(Some),
            "nats" => Nats::start().map(Self::Nats).map(Some),
            "rabbitmq" => RabbitMq::start().map(Self::RabbitMq).map(Some),
            _ => Ok(None),
        });
        Ok(started.await??.map(Arc::new))
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Nats(nats) => nats.url(),
            Self::Postgres(postgres) => postgres.url(),
            Self::RabbitMq(rabbitmq) => rabbitmq.url(),
            Self::Redis(redis) => redis.url(),
        }
    }

    /// Returns the URL of a store on this server, or `None` if the server cannot be a store.
    pub(crate) fn store(&self) -> Option<String> {
        matches!(self, Self::Postgres(_) | Self::Redis(_)).then(|| self.url())
    }

    /// Kills the server (SIGKILL) and starts it again, with the same data and on the same port.
    pub(crate) async fn kill(self: &Arc<Self>) -> Result<(), Failure> {
        let server = Arc::clone(self);
        let killed = spawn_blocking(move || match &*server {
            Self::Nats(nats) => nats.kill().and_then(|()| nats.start_again()),
            Self::Postgres(postgres) => postgres.kill().and_then(|()| postgres.start_again()),
            Self::RabbitMq(rabbitmq) => rabbitmq.kill().and_then(|()| rabbitmq.start_again()),
            Self::Redis(redis) => redis.kill().and_then(|()| redis.start_again()),
        });
        Ok(killed.await??)
    }

    /// Stops and restarts RabbitMQ, so that its new queues survive a kill. Does nothing for other servers.
    pub(crate) async fn keep_new_queues(self: &Arc<Self>) -> Result<(), Failure> {
        let server = Arc::clone(self);
        let restarted = spawn_blocking(move || match &*server {
            // If RabbitMQ 3.10 is killed within seconds after it has created a queue, the queue may be empty
            // afterwards.
            Self::RabbitMq(rabbitmq) => rabbitmq.stop().and_then(|()| rabbitmq.start_again()),
            _ => Ok(()),
        });
        Ok(restarted.await??)
    }
}
