//! A master with a replica, and sentinels that watch it.

use super::{Redis, Settings};
use crate::failure::{Failure, NotReady};
use crate::polling::{TIMEOUT, poll};
use crate::probe;

/// The name by which the sentinels know the master.
const WATCHED: &str = "mymaster";

/// Two nodes and three sentinels. They end with this value, and with our process in any case.
///
/// All calls block.
#[derive(Debug)]
pub struct Sentinels {
    sentinels: Vec<Redis>,
    nodes: Vec<Redis>,
}

impl Sentinels {
    /// Starts the servers, and waits until the sentinels know the replica and one another.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Redis::start`]; [`Failure::DoesNotStart`] if they do not find one another within five
    /// minutes.
    pub fn start(settings: &Settings) -> Result<Self, Failure> {
        let master = Redis::start(settings)?;
        let address = master.address();
        let (host, port) = (address.ip(), address.port());
        let follow = settings.clone().with("replicaof", format!("{host} {port}"));
        let replica = Redis::start(&follow.with("repl-diskless-sync-delay", "0"))?;
        let watch = Settings::sentinel()
            .with("sentinel monitor", format!("{WATCHED} {host} {port} 2"))
            .with("sentinel down-after-milliseconds", format!("{WATCHED} {}", settings.silence()))
            .with("sentinel failover-timeout", format!("{WATCHED} 5000"));
        let sentinels = (0..3).map(|_| Redis::start(&watch)).collect::<Result<Vec<_>, _>>()?;
        let sentinels = Self { sentinels, nodes: vec![master, replica] };
        sentinels.wait_until_they_know_all()?;
        Ok(sentinels)
    }

    /// Returns the nodes; the first is the initial master.
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// Returns the sentinels.
    pub fn sentinels(&self) -> &[Redis] {
        &self.sentinels
    }

    /// Returns `redis+sentinel://127.0.0.1:PORT,...`, without the part after the hosts.
    pub fn url(&self) -> String {
        let addresses: Vec<_> = self.sentinels.iter().map(|one| one.address().to_string()).collect();
        format!("redis+sentinel://{}", addresses.join(","))
    }

    /// Returns the name by which the sentinels know the master.
    pub fn watched(&self) -> &'static str {
        WATCHED
    }

    fn wait_until_they_know_all(&self) -> Result<(), Failure> {
        let knows_all = |one: &Redis| probe::redis_sentinel("127.0.0.1", one.address().port(), 1, 2);
        let all_know = || self.sentinels.iter().all(|one| knows_all(one).unwrap_or(false)).then_some(());
        poll(TIMEOUT, all_know).ok_or(Failure::DoesNotStart {
            server: "Sentinel",
            why: NotReady::Silent(TIMEOUT),
            log: String::new(),
        })
    }
}
