//! The target for a server with Redis's protocol. Each case has a key prefix.

use std::net::SocketAddr;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, cmd};
use storagebox::{Error, ErrorKind, RedisStore, Result, async_trait};
use storagebox_conformance::{Declared, Part, TestClock};
use storagebox_redis::Moved;

use super::cases::Case;
use super::watch::ANSWER;
use super::{CALL_TIMEOUT, MARK, TestTarget, address};

const PORT: u16 = 6379;

/// The query keys that the suite sets itself.
const OURS: [&str; 2] = ["prefix", "call_timeout"];

/// The field that contains the version, and the name, of each kind of server. Forks come first, because they also have
/// the field of Redis.
const VERSIONS: [(&str, &str); 4] = [
    ("valkey_version:", "valkey"),
    ("dragonfly_version:", "dragonfly"),
    ("garnet_version:", "garnet"),
    ("redis_version:", "redis"),
];

/// The keys that one run of the suite creates.
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
        // Refuses an invalid URL before anything is sent.
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
    Error::new(kind, "the request to the server failed").caused_by(error)
}

/// Connects without the library.
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
    fn name(&self) -> String {
        self.name.clone()
    }

    fn declared(&self) -> Declared {
        let declared = Declared::all()
            .without(Part::Strategies, "of the counters, Redis has Atomic, Marker, Window and Sharded")
            .without_restart("a server by its URL is not restarted");
        match self.upstream {
            Some(_) => declared,
            None => declared.without_network("the proxy cannot read what is encrypted"),
        }
    }

    async fn bare(&self, number: u64) -> Result<Case> {
        let (moved, url) = (Moved::default(), self.url.clone());
        let builder = RedisStore::builder().prefix(&format!("{}.{number}", self.prefix))?;
        let builder = builder.moved(moved.clone()).call_timeout(CALL_TIMEOUT);
        let open = move |proxy| builder.clone().connect(&address::through(&url, proxy)?);
        Ok(Case { upstream: self.upstream, ..Case::new(ScriptClock(moved), open) })
    }

    async fn reach(&self) -> Result<()> {
        cmd("PING").query_async(&mut connection(&self.url).await?).await.map_err(failed)
    }

    /// Removes keys until a scan finds none, because late requests may create keys during a scan.
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
    /// Removes the keys that one scan finds, and returns whether the scan found a key.
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

struct ScriptClock(Moved);

impl TestClock for ScriptClock {
    fn advance(&self, duration: Duration) {
        self.0.advance(duration);
    }

    fn turn_back(&self, duration: Duration) {
        self.0.turn_back(duration);
    }
}
