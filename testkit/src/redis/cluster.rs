//! A Redis cluster of our own.

use std::process::{Command, Stdio};

use super::{INSTALL, NAME, Redis, Settings};
use crate::failure::{Failure, NotReady};
use crate::polling::{TIMEOUT, poll};
use crate::port;
use crate::programs::in_path;

const CLIENT: &str = "redis-cli";

/// Masters with one replica each. They end with this value, and with our process in any case.
///
/// All calls block. It needs `redis-cli` beside `redis-server`.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Redis>,
}

impl Cluster {
    /// Starts this many masters, each with a replica, and waits until all slots are served.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Redis::start`], or the reason why the nodes form no cluster.
    pub fn start(masters: usize, settings: &Settings) -> Result<Self, Failure> {
        let client = in_path(CLIENT).ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        let nodes = (0..2 * masters).map(|_| node(settings)).collect::<Result<Vec<_>, _>>()?;
        let mut create = Command::new(client);
        create.args(["--cluster", "create"]).args(nodes.iter().map(|node| node.address().to_string()));
        create.args(["--cluster-replicas", "1", "--cluster-yes"]).stdin(Stdio::null());
        let output = create.output().map_err(|error| Failure::Started { program: CLIENT.into(), error })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
            let command = format!("{CLIENT} --cluster create");
            return Err(Failure::Program { command, status: output.status, output: said });
        }
        let cluster = Self { nodes };
        cluster.wait_until_served()?;
        Ok(cluster)
    }

    /// Returns the nodes, masters first.
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// Returns `redis+cluster://127.0.0.1:PORT,127.0.0.1:PORT,...`
    pub fn url(&self) -> String {
        let addresses: Vec<_> = self.nodes.iter().map(|node| node.address().to_string()).collect();
        format!("redis+cluster://{}", addresses.join(","))
    }

    /// Waits until every running node reports that all slots are served, and knows all replicas.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::DoesNotStart`] if that takes more than five minutes.
    pub fn wait_until_served(&self) -> Result<(), Failure> {
        poll(TIMEOUT, || self.nodes.iter().all(Redis::serves_all_slots).then_some(())).ok_or(Failure::DoesNotStart {
            server: "a cluster of Redis",
            why: NotReady::Silent(TIMEOUT),
            log: String::new(),
        })
    }
}

fn node(settings: &Settings) -> Result<Redis, Failure> {
    let bus = port::free()?.to_string();
    let silence = settings.silence().to_string();
    let settings = settings.clone().with("cluster-enabled", "yes").with("cluster-port", bus);
    Redis::start(&settings.with("cluster-node-timeout", silence).with("repl-diskless-sync-delay", "0"))
}
