//! A server for one test program, and prefixes on it, one for each case.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, FromRedisValue, cmd};
use storagebox_core::{Error, Result};
use storagebox_redis::{Moved, RedisBuilder, RedisStore};
use storagebox_testkit::redis::Redis;
use storagebox_testkit::servers;

const PASSWORD: &str = "hunter2-app";
const GRANTS: &str = include_str!("../../lua/grants.acl");

/// A server with a user that may do what the README names, in its own part of the keys.
#[derive(Debug)]
pub struct Server {
    url: String,
    /// The user, and what all its keys begin with.
    name: String,
    places: AtomicU64,
    /// The server, if it is this value's own.
    own: Option<Redis>,
}

impl Server {
    /// That of this test program.
    pub async fn shared() -> Result<Arc<Self>> {
        let server = servers::shared_redis().map_err(failed)?;
        Self::with_user(server.url().to_owned(), None).await
    }

    /// One that can be killed.
    pub async fn alone(own: Redis) -> Result<Arc<Self>> {
        Self::with_user(own.url(), Some(own)).await
    }

    async fn with_user(url: String, own: Option<Redis>) -> Result<Arc<Self>> {
        let name = format!("sbtest_{:016x}", fastrand::Rng::new().u64(..));
        let server = Arc::new(Self { url, name, places: AtomicU64::new(0), own });
        server.make_user().await?;
        Ok(server)
    }

    /// A server that was restarted has forgotten its users.
    pub async fn make_user(&self) -> Result<()> {
        let grants = GRANTS.replace("{password}", PASSWORD).replace("{prefix}", &self.name);
        let mut rule = cmd("ACL");
        rule.arg("SETUSER").arg(&self.name).arg("reset");
        for word in grants.split_whitespace() {
            rule.arg(word);
        }
        self.ask(&rule).await
    }

    /// A command of the administrator's.
    pub async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T> {
        let mut connection = self.admin().await?;
        command.query_async(&mut connection).await.map_err(failed)
    }

    pub async fn admin(&self) -> Result<MultiplexedConnection> {
        let client = redis::Client::open(self.url.as_str()).map_err(failed)?;
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        client.get_multiplexed_async_connection_with_config(&config).await.map_err(failed)
    }

    pub fn user(&self) -> &str {
        &self.name
    }

    pub fn own(&self) -> Option<&Redis> {
        self.own.as_ref()
    }

    pub fn address(&self) -> SocketAddr {
        let rest = self.url.rsplit(['/', '@']).next().unwrap_or_default();
        rest.parse().unwrap_or_else(|_| panic!("the server's URL has no address of numbers"))
    }

    /// The URL of the user with the least rights, at this address.
    pub fn url_at(&self, address: SocketAddr) -> String {
        format!("redis://{}:{PASSWORD}@{address}", self.name)
    }

    /// An empty store, set up.
    pub async fn place(self: &Arc<Self>) -> Result<Place> {
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{}:{number}", self.name);
        let place = Place { server: Arc::clone(self), prefix, moved: Moved::default() };
        storagebox_core::Store::setup(&place.store()?).await?;
        Ok(place)
    }

    /// Removes what the places left, and the user.
    pub async fn remove(&self) -> Result<()> {
        let mut admin = self.admin().await?;
        let mut cursor = 0_u64;
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(format!("{}:*", self.name)).arg("COUNT").arg(1_000);
            let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(&mut admin).await.map_err(failed)?;
            if !keys.is_empty() {
                cmd("UNLINK").arg(keys).query_async::<()>(&mut admin).await.map_err(failed)?;
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        cmd("ACL").arg("DELUSER").arg(&self.name).query_async::<()>(&mut admin).await.map_err(failed)
    }
}

/// A prefix, and its clock.
#[derive(Debug)]
pub struct Place {
    pub server: Arc<Server>,
    pub prefix: String,
    pub moved: Moved,
}

impl Place {
    pub fn builder(&self) -> Result<RedisBuilder> {
        Ok(RedisStore::builder().prefix(&self.prefix)?.moved(self.moved.clone()))
    }

    pub fn store(&self) -> Result<RedisStore> {
        self.builder()?.connect(&self.server.url_at(self.server.address()))
    }
}

pub fn failed(why: impl std::fmt::Display) -> Error {
    Error::unknown(format!("the test's own set-up failed: {why}"))
}
