//! The server of all rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{AsyncConnectionConfig, Client, IntoConnectionInfo, cmd};
use storagebox_testkit::redis::{Redis, Settings};
use tokio::sync::OnceCell;
use tokio::task::block_in_place;

use crate::effort::{Effort, Meter};
use crate::error::Result;

/// A server that is started when it is first used.
#[derive(Clone)]
pub(super) struct Server {
    started: Arc<OnceCell<Started>>,
    settings: Arc<Settings>,
}

struct Started {
    redis: Redis,
    admin: MultiplexedConnection,
    prefixes: AtomicU64,
}

impl Server {
    /// Creates a server without persistence, so that the disk is not measured.
    pub(super) fn quick() -> Self {
        Self { started: Arc::default(), settings: Arc::new(Settings::quick()) }
    }

    /// Creates a server that writes every change to disk before it answers.
    pub(super) fn durable() -> Self {
        Self { started: Arc::default(), settings: Arc::new(Settings::durable()) }
    }

    async fn started(&self) -> Result<&Started> {
        self.started.get_or_try_init(|| Started::new(&self.settings)).await
    }

    pub(super) async fn url(&self) -> Result<String> {
        Ok(self.started().await?.redis.url())
    }

    /// Returns a prefix that no other store has.
    pub(super) async fn prefix(&self) -> Result<String> {
        Ok(format!("bench-{}", self.started().await?.prefixes.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns a client with the same connection settings as the library.
    pub(super) async fn client(&self) -> Result<Client> {
        let info = self.url().await?.into_connection_info()?;
        Ok(Client::open(info.set_tcp_settings(TcpSettings::default().set_nodelay(true)))?)
    }
}

impl Started {
    async fn new(settings: &Settings) -> Result<Self> {
        let redis = block_in_place(|| Redis::start(settings))?;
        let admin = Client::open(redis.url())?.get_multiplexed_async_connection_with_config(&patient()).await?;
        Ok(Self { redis, admin, prefixes: AtomicU64::default() })
    }
}

/// Returns the settings of a connection without a response timeout, which would be half a second by default.
pub(super) fn patient() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_response_timeout(None)
}

impl Meter for Server {
    fn read(&self) -> BoxFuture<'_, Result<Effort>> {
        Box::pin(async {
            let mut admin = self.started().await?.admin.clone();
            let info: String = cmd("INFO").arg("cpu").query_async(&mut admin).await?;
            Ok(Effort { cpu: Some(spent(&info)), log: None, requests: None })
        })
    }
}

/// Returns the user and system time of the server's process, from its answer to `INFO`.
fn spent(info: &str) -> Duration {
    let parts = info.lines().filter_map(|line| {
        line.strip_prefix("used_cpu_sys:").or_else(|| line.strip_prefix("used_cpu_user:"))?.trim().parse().ok()
    });
    parts.map(Duration::from_secs_f64).sum()
}
