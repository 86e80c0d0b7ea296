//! A server for one test program, with a prefix for each case.

mod administrator;

use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use redis::aio::MultiplexedConnection;
use redis::cmd;
use storagebox_core::Result;
use storagebox_redis::{Moved, RedisBuilder, RedisStore};
pub use storagebox_testkit::checks::failed;
use storagebox_testkit::redis::{Cluster, Redis, Sentinels, Settings};
use storagebox_testkit::servers;
use tokio::task::spawn_blocking;

const PASSWORD: &str = "hunter2-app";
const GRANTS: &str = include_str!("../../lua/grants.acl");

/// A server, and a user with the README's rights to some of its keys.
#[derive(Debug)]
pub struct Server {
    /// The administrator's URLs, one per node.
    urls: Vec<String>,
    /// The name of the user, with which the prefix of each test begins.
    name: String,
    places: AtomicU64,
    /// The prefixes of ended cases, whose keys are not removed yet.
    used: Mutex<HashSet<String>>,
    /// The administrator's connection to a single node, opened once for all commands.
    kept: Mutex<Option<MultiplexedConnection>>,
    /// The CA of a server with TLS, in PEM.
    authority: Option<Vec<u8>>,
    own: Own,
}

/// The server processes of this test program.
#[derive(Debug)]
enum Own {
    Nothing,
    Node(Box<Redis>),
    Cluster(Cluster),
    Sentinels(Sentinels),
}

impl Server {
    fn new(urls: Vec<String>, name: String, own: Own) -> Self {
        Self {
            urls,
            name,
            places: AtomicU64::new(0),
            used: Default::default(),
            kept: Mutex::default(),
            authority: None,
            own,
        }
    }

    /// Returns the server of this test program.
    pub async fn shared() -> Result<Arc<Self>> {
        let url = servers::shared_redis().map_err(failed)?.url().to_owned();
        let server = Self::new(vec![url], name(), Own::Nothing);
        let mut rule = cmd("ACL");
        rule.arg("SETUSER").arg(&server.name);
        for word in grants(&any_place_of(&server.name)).split_whitespace() {
            rule.arg(word);
        }
        server.ask::<()>(&rule).await?;
        Ok(Arc::new(server))
    }

    /// Starts a server that can be killed, and that knows its user from the start.
    pub async fn alone(settings: Settings) -> Result<Arc<Self>> {
        let name = name();
        let settings = knowing(settings, &name);
        let own = spawn_blocking(move || Redis::start(&settings)).await.map_err(failed)?.map_err(failed)?;
        let authority = own.authority().map(fs::read).transpose().map_err(failed)?;
        Ok(Arc::new(Self { authority, ..Self::new(vec![own.url()], name, Own::Node(Box::new(own))) }))
    }

    /// Starts a cluster of three masters with a replica each.
    pub async fn cluster(settings: Settings) -> Result<Arc<Self>> {
        let name = name();
        let settings = knowing(settings, &name);
        let own = spawn_blocking(move || Cluster::start(3, &settings)).await.map_err(failed)?.map_err(failed)?;
        let urls = own.nodes().iter().map(Redis::url).collect();
        Ok(Arc::new(Self::new(urls, name, Own::Cluster(own))))
    }

    /// Starts a master with a replica, and sentinels.
    pub async fn sentinels(settings: Settings) -> Result<Arc<Self>> {
        let name = name();
        let settings = knowing(settings, &name);
        let own = spawn_blocking(move || Sentinels::start(&settings)).await.map_err(failed)?.map_err(failed)?;
        let urls = own.nodes().iter().map(Redis::url).collect();
        Ok(Arc::new(Self::new(urls, name, Own::Sentinels(own))))
    }

    pub fn user(&self) -> &str {
        &self.name
    }

    pub fn own(&self) -> Option<&Redis> {
        match &self.own {
            Own::Node(own) => Some(own),
            _ => None,
        }
    }

    pub fn own_cluster(&self) -> Option<&Cluster> {
        match &self.own {
            Own::Cluster(own) => Some(own),
            _ => None,
        }
    }

    /// Returns the nodes of a cluster, or the nodes that sentinels watch.
    pub fn nodes(&self) -> &[Redis] {
        match &self.own {
            Own::Cluster(own) => own.nodes(),
            Own::Sentinels(own) => own.nodes(),
            Own::Node(own) => std::slice::from_ref(own),
            Own::Nothing => &[],
        }
    }

    /// Returns the sentinels, if there are any.
    pub fn watchers(&self) -> &[Redis] {
        match &self.own {
            Own::Sentinels(own) => own.sentinels(),
            _ => &[],
        }
    }

    pub fn address(&self) -> SocketAddr {
        let rest = self.urls[0].rsplit(['/', '@']).next().unwrap_or_default();
        rest.parse().unwrap_or_else(|_| panic!("the server's URL has no address of numbers"))
    }

    pub fn url_as_administrator(&self) -> &str {
        &self.urls[0]
    }

    /// Returns the URL of the user with the least rights, at this address.
    pub fn url_at(&self, address: SocketAddr) -> String {
        let scheme = if self.authority.is_some() { "rediss" } else { "redis" };
        format!("{scheme}://{}:{PASSWORD}@{address}", self.name)
    }

    pub fn url(&self) -> String {
        match &self.own {
            Own::Cluster(own) => own.url().replace("://", &format!("://{}:{PASSWORD}@", self.name)),
            Own::Sentinels(own) => {
                let url = own.url().replace("://", &format!("://{}:{PASSWORD}@", self.name));
                format!("{url}/{}", own.watched())
            }
            Own::Nothing | Own::Node(_) => self.url_at(self.address()),
        }
    }

    /// Returns a place with an unused prefix.
    pub fn bare(self: &Arc<Self>) -> Place {
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{}.{number}", self.name);
        Place { server: Arc::clone(self), prefix, moved: Moved::default() }
    }

    /// Returns a place with an empty store.
    pub async fn place(self: &Arc<Self>) -> Result<Place> {
        let place = self.bare();
        storagebox_core::Backend::setup(&place.store()?).await?;
        Ok(place)
    }

    /// Marks the place as unused by any call.
    pub fn let_go(&self, place: &Place) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(place.prefix.clone());
    }

    /// Removes the keys of used places from time to time, so that code that reads all keys finds few.
    pub async fn sweep(&self) -> Result<()> {
        let used = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            if used.len() < MANY || !matches!(self.own, Own::Nothing) {
                HashSet::new()
            } else {
                std::mem::take(&mut *used)
            }
        };
        if used.is_empty() {
            return Ok(());
        }
        let prefix = |key: &[u8]| String::from_utf8_lossy(key).split(':').next().unwrap_or_default().to_owned();
        self.remove_keys(|key| used.contains(&prefix(key))).await
    }

    /// Removes the keys of all places and the user, unless the server ends with the test program.
    pub async fn remove(&self) -> Result<()> {
        if !matches!(self.own, Own::Nothing) {
            return Ok(());
        }
        self.remove_keys(|_| true).await?;
        self.ask(cmd("ACL").arg("DELUSER").arg(&self.name)).await
    }

    async fn remove_keys(&self, is_so: impl Fn(&[u8]) -> bool) -> Result<()> {
        let mut admin = self.connected(&self.urls[0]).await?;
        let mut cursor = 0_u64;
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(format!("{}.*", self.name)).arg("COUNT").arg(1_000);
            let (next, mut keys): (u64, Vec<Vec<u8>>) = scan.query_async(&mut admin).await.map_err(failed)?;
            keys.retain(|key| is_so(key));
            if !keys.is_empty() {
                cmd("UNLINK").arg(keys).query_async::<()>(&mut admin).await.map_err(failed)?;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }
}

/// The number of prefixes whose keys are removed at once.
const MANY: usize = 16;

fn knowing(settings: Settings, name: &str) -> Settings {
    settings.with("user", format!("{name} {}", grants(&any_place_of(name))))
}

fn name() -> String {
    format!("sbtest_{:016x}", fastrand::Rng::new().u64(..))
}

/// Returns the README's rights to the store with this prefix, in one line.
pub fn grants(prefix: &str) -> String {
    let grants = GRANTS.replace("{password}", PASSWORD).replace("{prefix}", prefix);
    grants.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a key pattern for the prefixes of all tests with this user.
fn any_place_of(name: &str) -> String {
    format!("{name}.*")
}

/// A prefix and its clock.
#[derive(Debug)]
pub struct Place {
    pub server: Arc<Server>,
    pub prefix: String,
    pub moved: Moved,
}

impl Place {
    pub fn builder(&self) -> Result<RedisBuilder> {
        let builder = RedisStore::builder().prefix(&self.prefix)?.moved(self.moved.clone());
        match &self.server.authority {
            Some(pem) => builder.authority(pem),
            None => Ok(builder),
        }
    }

    pub fn store(&self) -> Result<RedisStore> {
        self.builder()?.connect(&self.server.url())
    }
}

impl Place {
    /// Returns the number of the master that has the namespace of this tag.
    pub async fn master_of(&self, tag: &str) -> Result<Option<usize>> {
        let key = self.key(tag);
        for (number, mut master) in self.server.numbered_masters().await? {
            // Any other node returns an error.
            if cmd("EXISTS").arg(&key).query_async(&mut master).await.unwrap_or(false) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Returns the key that all keys of a namespace begin with.
    pub fn key(&self, tag: &str) -> String {
        format!("{}:{{{tag}}}", self.prefix)
    }
}
