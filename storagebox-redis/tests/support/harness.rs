//! The suite's harness: a prefix per case, opened by the user with the least rights.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cmd;
use storagebox_conformance::{Declared, Harness, Part, Restart, Sandbox, TestClock, connected};
use storagebox_core::{Backend, ClaimId, Item, ItemState, ListedItem, Namespace, Result, async_trait};
use storagebox_redis::{Moved, RedisStore};
use storagebox_testkit::checks::harness::{restart, run_with};
use storagebox_testkit::redis::Settings;
use tokio::runtime::Runtime;

use super::place::{Place, Server, failed};

/// A call timeout that no call reaches, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// The configuration of the stores under test.
#[derive(Clone, Copy, Debug)]
pub struct SetUp {
    pub name: &'static str,
    pub servers: Servers,
    /// The number of connections of the pool, or `None` for one shared connection.
    pub pool: Option<usize>,
    /// The number of replicas that must have each change.
    pub wait: u32,
}

/// The server of the stores under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servers {
    /// One server, which all cases of this test program share.
    One,
    /// A server that accepts only TLS.
    Tls,
    /// A cluster of three masters with a replica each.
    Cluster,
    /// A master with a replica, and sentinels.
    Sentinels,
}

impl SetUp {
    pub const PLAIN: Self = Self { name: "plain", servers: Servers::One, pool: None, wait: 0 };
}

/// The suite's harness.
pub struct RedisHarness {
    server: Arc<Server>,
    set_up: SetUp,
    version: String,
}

impl RedisHarness {
    pub async fn new(server: Arc<Server>, set_up: SetUp) -> Result<Self> {
        let info: String = server.ask(cmd("INFO").arg("server")).await?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        let version = version.unwrap_or("of unknown version").to_owned();
        Ok(Self { server, set_up, version })
    }

    /// Runs a function that needs a server, and cleans up afterwards.
    pub fn with_server(set_up: SetUp, run: impl FnOnce(&Runtime, Arc<Server>) -> Result<ExitCode>) -> ExitCode {
        let make = async |_: &Runtime| match set_up.servers {
            Servers::One => Server::shared().await,
            Servers::Tls => Server::alone(Settings::quick().with_tls()).await,
            Servers::Cluster => Server::cluster(Settings::quick()).await,
            Servers::Sentinels => Server::sentinels(Settings::quick()).await,
        };
        run_with(make, run, async |server| server.remove().await)
    }
}

/// Opens a prefix as another process of the suite.
pub async fn open_beside(url: String) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(RedisStore::builder().call_timeout(PATIENCE).connect(&url)?))
}

/// The keys of one case: all keys with one prefix on a server.
struct Prefix {
    place: Place,
    set_up: SetUp,
}

impl Drop for Prefix {
    fn drop(&mut self) {
        self.place.server.let_go(&self.place);
    }
}

impl Prefix {
    fn store(&self, url: &str) -> Result<RedisStore> {
        let builder = self.place.builder()?.call_timeout(PATIENCE).wait(self.set_up.wait, Duration::from_secs(60));
        let builder = match self.set_up.pool {
            Some(connections) => builder.pool(connections),
            None => builder,
        };
        builder.connect(url)
    }
}

#[async_trait]
impl Harness for RedisHarness {
    fn name(&self) -> String {
        format!("redis {} ({})", self.version, self.set_up.name)
    }

    fn declared(&self) -> Declared {
        let declared =
            Declared::all().without(Part::Strategies, "of the counters, Redis has Atomic, Marker, Window and Sharded");
        match self.set_up.servers {
            Servers::One => declared,
            Servers::Tls => declared
                .without_network("the proxy cannot read what is encrypted")
                .without_restart("the set-up without TLS restarts its server")
                .without_processes("the set-up without TLS has other processes"),
            Servers::Cluster => declared
                .without(Part::JoinedEntities, "on a cluster, tokens are on other nodes than entities")
                .without_network("nodes tell their own addresses; the long checks cut a cluster's")
                .without_restart("the long checks kill masters"),
            Servers::Sentinels => declared
                .without_network("nodes tell their own addresses; the long checks cut a cluster's")
                .without_restart("the long checks kill masters"),
        }
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        self.server.sweep().await?;
        Ok(Box::new(Prefix { place: self.server.bare(), set_up: self.set_up }))
    }

    async fn fresh_alone(&self) -> Result<Box<dyn Sandbox>> {
        let place = Server::alone(Settings::durable()).await?.place().await?;
        Ok(Box::new(Prefix { place, set_up: self.set_up }))
    }
}

#[async_trait]
impl Sandbox for Prefix {
    /// Opens a store that is already connected.
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        // The suite drops each call wherever the call waits, and its cases are about calls, not about connecting.
        connected(self.store(&self.place.server.url())?).await
    }

    fn address(&self) -> Option<String> {
        Some(format!("{}?prefix={}", self.place.server.url(), self.place.prefix))
    }

    fn upstream(&self) -> Option<SocketAddr> {
        Some(self.place.server.address())
    }

    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(self.store(&self.place.server.url_at(proxy))?))
    }

    /// Reads the state of each item from the stored hashes, without the library.
    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        let Place { server, prefix, moved } = &self.place;
        let mut masters = server.masters().await?;
        let escaped: String = bank.as_str().bytes().map(escape).collect();
        let base = format!("{prefix}:{{b.{escaped}.0}}");
        let time: (i64, i64) = cmd("TIME").query_async(&mut masters[0]).await.map_err(failed)?;
        let now = time.0 * 1_000_000 + time.1 + moved.micros();
        let claims = hashes(&mut masters, &format!("{base}:c:")).await?;
        let items = hashes(&mut masters, &format!("{base}:i:")).await?;
        items.into_iter().map(|(item, state)| listed(item, &state, &claims, now)).collect()
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(Hand(self.place.moved.clone())))
    }

    async fn restart(&self, how: Restart) -> Result<()> {
        restart(self.place.server.own(), how)
    }
}

fn escape(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

/// Returns the fields of all hashes whose keys begin with the prefix.
async fn hashes(masters: &mut [MultiplexedConnection], prefix: &str) -> Result<HashMap<String, String>> {
    let mut fields = HashMap::new();
    for master in masters {
        let mut cursor = 0_u64;
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(format!("{prefix}*")).arg("COUNT").arg(1_000);
            let (next, keys): (u64, Vec<String>) = scan.query_async(master).await.map_err(failed)?;
            for key in keys {
                let found: HashMap<String, String> =
                    cmd("HGETALL").arg(key).query_async(master).await.map_err(failed)?;
                fields.extend(found);
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(fields)
}

fn listed(item: String, state: &str, claims: &HashMap<String, String>, now: i64) -> Result<ListedItem> {
    let state = match state {
        "" => ItemState::Free,
        "\0W" | "\0Q" => ItemState::Withdrawn,
        "\0G" => ItemState::Spent(None),
        claim => held(&item, claim, claims, now)?,
    };
    Ok(ListedItem { item: Item::new(item)?, state })
}

/// Returns the state of an item that was given to this claim. `claims` has the stored claims.
fn held(item: &str, claim: &str, claims: &HashMap<String, String>, now: i64) -> Result<ItemState> {
    let value = claims.get(claim).ok_or_else(|| failed("an item's claim is not there"))?;
    // Void calls precede the rest.
    let value =
        value.strip_prefix("\0V").and_then(|void| void.split_once(';')).map_or(value.as_str(), |(_, rest)| rest);
    let (mark, rest) = if value.starts_with('\0') { value.split_at(2) } else { ("", value) };
    let (until, its) = if mark == "\0T" { rest.split_at(16) } else { ("", rest) };
    if its != item {
        return Err(failed("an item's claim has another item, or has ended"));
    }
    let claim = ClaimId::new(claim)?;
    match mark {
        "" => Ok(ItemState::Held(claim)),
        "\0C" => Ok(ItemState::Spent(Some(claim))),
        _ if until.parse::<i64>().map_err(failed)? <= now => Ok(ItemState::Free),
        _ => Ok(ItemState::Held(claim)),
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
