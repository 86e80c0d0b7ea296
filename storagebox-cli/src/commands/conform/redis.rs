//! Prefixes of keys on a server that speaks Redis's protocol.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, cmd};
use storagebox::bank::ListedItem;
use storagebox::parts::Backend;
use storagebox::values::Namespace;
use storagebox::{Error, ErrorKind, RedisStore, Result, async_trait};
use storagebox_conformance::{Declared, Harness, Part, Sandbox, TestClock, connected, listed};
use storagebox_redis::Moved;

use super::watch::ANSWER;
use super::{CALL_TIMEOUT, MARK, TestTarget, address};

const PORT: u16 = 6379;

/// What the suite sets itself.
const OURS: [&str; 2] = ["prefix", "call_timeout"];

/// How the fields begin in which servers say what they are, the more special ones first.
const VERSIONS: [(&str, &str); 4] = [
    ("valkey_version:", "valkey"),
    ("dragonfly_version:", "dragonfly"),
    ("garnet_version:", "garnet"),
    ("redis_version:", "redis"),
];

/// The keys of one run.
#[derive(Clone)]
pub(super) struct Keys {
    url: String,
    prefix: String,
    upstream: Option<SocketAddr>,
    name: String,
}

impl Keys {
    pub(super) async fn at(url: &str) -> Result<Self> {
        let (url, taken) = address::without(url, &OURS);
        let given = taken.iter().find(|(key, _)| *key == "prefix").map_or("storagebox", |(_, prefix)| prefix);
        let prefix = format!("{given}.{MARK}.{:08x}", fastrand::u32(..));
        // Refuses what is no URL before anything is sent.
        RedisStore::builder().prefix(&format!("{prefix}.0"))?.connect(&url)?;
        let plain = address::scheme(&url) == "redis";
        let upstream = if plain { address::of(&url, PORT).await } else { None };
        let name = version(&url).await?;
        Ok(Self { url, prefix, upstream, name })
    }
}

fn failed(error: RedisError) -> Error {
    let kind = match error.kind() {
        redis::ErrorKind::AuthenticationFailed => ErrorKind::Denied,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, "the server could not be asked").caused_by(error)
}

/// A connection of our own, past the library.
async fn connection(url: &str) -> Result<MultiplexedConnection> {
    let address = url.split_once('?').map_or(url, |(address, _)| address);
    let client = Client::open(address).map_err(failed)?;
    let patient = AsyncConnectionConfig::new().set_connection_timeout(Some(ANSWER)).set_response_timeout(Some(ANSWER));
    client.get_multiplexed_async_connection_with_config(&patient).await.map_err(failed)
}

async fn version(url: &str) -> Result<String> {
    let info: String = cmd("INFO").arg("server").query_async(&mut connection(url).await?).await.map_err(failed)?;
    let of = |(field, name): &(&str, &str)| {
        let version = info.lines().find_map(|line| line.strip_prefix(field))?;
        Some(format!("{name} {}", version.trim()))
    };
    Ok(VERSIONS.iter().find_map(of).unwrap_or_else(|| "redis of an unknown version".to_owned()))
}

#[async_trait]
impl TestTarget for Keys {
    fn harness(&self) -> Box<dyn Harness> {
        Box::new(Prefixes { keys: self.clone(), next: AtomicU64::new(0) })
    }

    async fn reach(&self) -> Result<()> {
        cmd("PING").query_async(&mut connection(&self.url).await?).await.map_err(failed)
    }

    /// Until there is nothing: what a dropped case had sent may arrive meanwhile.
    async fn remove(&self) -> Result<()> {
        let mut server = connection(&self.url).await?;
        while self.remove_once(&mut server).await? {}
        Ok(())
    }

    fn left(&self) -> String {
        format!("the keys that begin with {}.", self.prefix)
    }
}

impl Keys {
    /// Whether there was anything to remove.
    async fn remove_once(&self, server: &mut MultiplexedConnection) -> Result<bool> {
        let (mut cursor, mut found) = (0_u64, false);
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(format!("{}.*", self.prefix)).arg("COUNT").arg(1_000);
            let (next, keys): (u64, Vec<Vec<u8>>) = scan.query_async(server).await.map_err(failed)?;
            if !keys.is_empty() {
                cmd("UNLINK").arg(keys).query_async::<()>(server).await.map_err(failed)?;
                found = true;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(found);
            }
        }
    }
}

struct Prefixes {
    keys: Keys,
    next: AtomicU64,
}

#[async_trait]
impl Harness for Prefixes {
    fn name(&self) -> String {
        self.keys.name.clone()
    }

    fn declared(&self) -> Declared {
        let declared = Declared::all()
            .without(Part::Strategies, "of the counters, Redis has Atomic, Marker, Window and Sharded")
            .without_restart("a server by its URL is not restarted")
            .without_processes("the command starts no others");
        match self.keys.upstream {
            Some(_) => declared,
            None => declared.without_network("the proxy cannot read what is encrypted"),
        }
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{}.{number}", self.keys.prefix);
        let place =
            Prefix { url: self.keys.url.clone(), prefix, upstream: self.keys.upstream, moved: Moved::default() };
        Ok(Box::new(place))
    }
}

struct Prefix {
    url: String,
    prefix: String,
    upstream: Option<SocketAddr>,
    moved: Moved,
}

impl Prefix {
    fn at(&self, url: &str) -> Result<RedisStore> {
        let builder = RedisStore::builder().prefix(&self.prefix)?.moved(self.moved.clone());
        builder.call_timeout(CALL_TIMEOUT).connect(url)
    }
}

#[async_trait]
impl Sandbox for Prefix {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        connected(self.at(&self.url)?).await
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&*self.open().await?, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(Hand(self.moved.clone())))
    }

    fn upstream(&self) -> Option<SocketAddr> {
        self.upstream
    }

    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(self.at(&address::moved(&self.url, proxy)?)?))
    }
}

/// Moves the clock of the scripts.
struct Hand(Moved);

impl TestClock for Hand {
    fn advance(&self, duration: Duration) {
        self.0.advance(duration);
    }

    fn turn_back(&self, duration: Duration) {
        self.0.turn_back(duration);
    }
}
