//! The broker: somebody's, or a server of our own, which may be killed.

use std::sync::Arc;

use storagebox_testkit::nats::Nats;
use storagebox_testkit::postgres::{self, Postgres};
use storagebox_testkit::rabbitmq::RabbitMq;
use storagebox_testkit::redis::{self, Redis};
use tokio::task::spawn_blocking;

use crate::failure::Failure;

pub(crate) const KINDS: [&str; 4] = ["redis", "postgres", "nats", "rabbitmq"];

#[derive(Clone)]
pub(crate) enum Broker {
    /// Somebody's, by its URL.
    Foreign(String),
    /// A server that this process started, and that ends with it.
    Own(Arc<dyn Own>),
}

impl Broker {
    /// Takes a URL, or the name of a kind of server to start.
    pub(crate) async fn open(transport: &str) -> Result<Self, Failure> {
        let transport = transport.to_owned();
        spawn_blocking(move || {
            Ok(match transport.as_str() {
                "redis" => Self::Own(Arc::new(Redis::start(&redis::Settings::durable())?)),
                "postgres" => Self::Own(Arc::new(Postgres::start(&crowded())?)),
                "nats" => Self::Own(Arc::new(Nats::start()?)),
                "rabbitmq" => Self::Own(Arc::new(RabbitMq::start()?)),
                _ => Self::Foreign(transport),
            })
        })
        .await?
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Foreign(url) => url.clone(),
            Self::Own(server) => server.url(),
        }
    }

    /// The URL of a store on the same server, if there is one and it is ours.
    pub(crate) fn store(&self) -> Option<String> {
        match self {
            Self::Own(server) if server.is_store() => Some(server.url()),
            _ => None,
        }
    }

    /// Kills it (SIGKILL) and starts it again, with the same data and on the same port.
    pub(crate) async fn kill(&self) -> Result<(), Failure> {
        self.with_server(|server| server.kill().and_then(|()| server.start_again())).await
    }

    /// RabbitMQ 3.10 may find queues empty that it created seconds before it was killed. Ended in good order, it keeps
    /// them.
    pub(crate) async fn keep_queues(&self) -> Result<(), Failure> {
        self.with_server(|server| {
            if server.forgets_new_queues() { server.stop().and_then(|()| server.start_again()) } else { Ok(()) }
        })
        .await
    }

    async fn with_server(
        &self,
        work: impl FnOnce(&dyn Own) -> Result<(), storagebox_testkit::Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let Self::Own(server) = self else { return Err(Failure::ForeignBroker) };
        let server = Arc::clone(server);
        Ok(spawn_blocking(move || work(&*server)).await??)
    }
}

/// Each worker has two pools.
fn crowded() -> postgres::Settings {
    postgres::Settings::durable().with("max_connections", "400")
}

/// A server of our own. All calls block.
pub(crate) trait Own: Send + Sync {
    fn url(&self) -> String;
    fn kill(&self) -> Result<(), storagebox_testkit::Failure>;
    fn stop(&self) -> Result<(), storagebox_testkit::Failure>;
    fn start_again(&self) -> Result<(), storagebox_testkit::Failure>;
    fn is_store(&self) -> bool;
    fn forgets_new_queues(&self) -> bool;
}

macro_rules! own {
    ($($server:ty: store $is_store:literal, forgets $forgets:literal;)*) => {$(
        impl Own for $server {
            fn url(&self) -> String {
                Self::url(self)
            }

            fn kill(&self) -> Result<(), storagebox_testkit::Failure> {
                Self::kill(self)
            }

            fn stop(&self) -> Result<(), storagebox_testkit::Failure> {
                Self::stop(self)
            }

            fn start_again(&self) -> Result<(), storagebox_testkit::Failure> {
                Self::start_again(self)
            }

            fn is_store(&self) -> bool {
                $is_store
            }

            fn forgets_new_queues(&self) -> bool {
                $forgets
            }
        }
    )*};
}

own! {
    Nats: store false, forgets false;
    Postgres: store true, forgets false;
    RabbitMq: store false, forgets true;
    Redis: store true, forgets false;
}
