//! A harness that uses only the public API of the suite, as a user would write it. It starts a server for each case and
//! restarts it. `cargo xtask prove redis` runs this harness. The whole suite is in `tests/conformance.rs`.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::{
    Declared, Harness, Options, Part, Profile, Restart, Sandbox, Selection, Server, TestClock, listed, neighbour,
    run_with,
};
use storagebox_core::{Backend, Error, ListedItem, Namespace, Result, async_trait};
use storagebox_redis::{Moved, RedisStore};
use tempfile::TempDir;
use tokio::process::Command;

struct Redis;

struct OneServer {
    server: Server,
    moved: Moved,
    /// The folder with the server's files, deleted on drop.
    _folder: TempDir,
}

fn failed(error: std::io::Error) -> Error {
    Error::corrupt("the server of a case", error)
}

#[async_trait]
impl Harness for Redis {
    fn name(&self) -> String {
        "redis, a server for each case".to_owned()
    }

    fn declared(&self) -> Declared {
        Declared::all().without(Part::Strategies, "of the counters, Redis has Atomic, Marker, Window and Sharded")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let folder = TempDir::new().map_err(failed)?;
        let path = folder.path().to_owned();
        let server = Server::start(move |port| {
            let mut redis = Command::new("redis-server");
            redis.args(["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--loglevel", "warning"]);
            redis.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir"]).arg(&path);
            redis
        });
        let server = server.await.map_err(failed)?;
        Ok(Box::new(OneServer { server, moved: Moved::default(), _folder: folder }))
    }
}

#[async_trait]
impl Sandbox for OneServer {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        self.open_through(self.server.address()).await
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&*self.open().await?, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(Hand(self.moved.clone())))
    }

    fn address(&self) -> Option<String> {
        Some(format!("redis://{}", self.server.address()))
    }

    fn upstream(&self) -> Option<SocketAddr> {
        Some(self.server.address())
    }

    async fn open_through(&self, address: SocketAddr) -> Result<Arc<dyn Backend>> {
        let builder = RedisStore::builder().moved(self.moved.clone()).call_timeout(Duration::from_secs(300));
        Ok(Arc::new(builder.connect(&format!("redis://{address}"))?))
    }

    async fn restart(&self, how: Restart) -> Result<()> {
        self.server.restart(how).await.map_err(failed)
    }
}

struct Hand(Moved);

impl TestClock for Hand {
    fn advance(&self, duration: Duration) {
        self.0.advance(duration);
    }

    fn turn_back(&self, duration: Duration) {
        self.0.turn_back(duration);
    }
}

fn main() -> ExitCode {
    neighbour(async |url| Ok(Arc::new(RedisStore::connect(&url)?) as _))
        .unwrap_or_else(|| run_with(Redis, Options::new(Profile::SMOKE).selection(Selection::Smoke)))
}
