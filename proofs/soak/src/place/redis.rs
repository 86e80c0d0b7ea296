//! A Redis server.

use std::net::SocketAddr;

use storagebox_testkit::redis::{Redis, Settings};
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::size::Size;

pub(super) struct Keys {
    pub(super) server: Redis,
}

impl Keys {
    pub(super) async fn start() -> Result<Self, Failure> {
        let server = spawn_blocking(|| Redis::start(&Settings::durable())).await??;
        Ok(Self { server })
    }

    pub(super) fn url_at(&self, proxy: SocketAddr) -> String {
        let url = self.server.url().replace(&self.server.address().to_string(), &proxy.to_string());
        let mark = if url.contains('?') { '&' } else { '?' };
        format!("{url}{mark}prefix=soak&remember=60s")
    }

    pub(super) async fn size(&self) -> Result<Size, Failure> {
        let url = self.server.url();
        let mut server = redis::Client::open(url.as_str())?.get_multiplexed_async_connection().await?;
        let keys: u64 = redis::cmd("DBSIZE").query_async(&mut server).await?;
        let info: String = redis::cmd("INFO").arg("memory").query_async(&mut server).await?;
        let used =
            info.lines().find_map(|line| line.strip_prefix("used_memory_dataset:")).ok_or("no used_memory_dataset")?;
        Ok(Size { entries: Some(keys), bytes: used.trim().parse()? })
    }
}
