//! The server, which is one node or a cluster, and how to connect to it.

#[cfg(feature = "cluster")]
use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;

use redis::aio::ConnectionLike;
#[cfg(feature = "cluster")]
use redis::cluster::NodeAddress;
#[cfg(feature = "cluster")]
use redis::cluster_async::ClusterConnection;
use redis::{AsyncConnectionConfig, Cmd, ConnectionInfo, Pipeline, RedisFuture, Value};
use storagebox_core::backend::in_time;
use storagebox_core::{Error, ErrorKind, Result};

use super::dial::Node;
use super::line::Line;
use crate::config::{Access, At};
#[cfg(feature = "cluster")]
use crate::error;

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) at: At,
    pub(crate) access: Access,
    /// The longest time that connecting may take.
    pub(crate) patience: Duration,
}

#[derive(Clone)]
pub(super) enum Wire {
    Node(Node),
    #[cfg(feature = "cluster")]
    Cluster(ClusterConnection),
}

/// How often the longest time for connecting to one node of a cluster fits into the patience.
// The driver connects to all nodes of the URL at once, then to all nodes of the cluster, and waits both times for the
// last one. The first call of a namespace may need both connections of the store, so silent nodes can delay it four
// times. Without time left for the call itself, it would drop the connections, and each later call would
// connect again from the beginning.
#[cfg(feature = "cluster")]
const NODE_SHARES: u32 = 6;

impl Server {
    pub(super) fn is_cluster(&self) -> bool {
        match &self.at {
            At::Node(_) => false,
            #[cfg(feature = "cluster")]
            At::Cluster { .. } => true,
            #[cfg(feature = "sentinel")]
            At::Sentinels { .. } => false,
        }
    }

    pub(super) fn is_watched(&self) -> bool {
        match &self.at {
            At::Node(_) => false,
            #[cfg(feature = "cluster")]
            At::Cluster { .. } => false,
            #[cfg(feature = "sentinel")]
            At::Sentinels { .. } => true,
        }
    }

    pub(super) async fn connect(&self) -> Result<Wire> {
        let login = self.access.login().await?;
        let by = |server: &ConnectionInfo| login.as_ref().map_or_else(|| server.clone(), |login| login.of(server));
        match &self.at {
            At::Node(node) => self.connect_to_node(&by(node)).await,
            #[cfg(feature = "cluster")]
            At::Cluster { nodes, reached } => self.connect_to_cluster(nodes.iter().map(by).collect(), reached).await,
            #[cfg(feature = "sentinel")]
            At::Sentinels { sentinels, settings, watched } => {
                self.connect_to_master(sentinels, &by(settings), watched).await
            }
        }
    }

    /// Returns connection settings without the driver's response timeout.
    fn config(&self) -> AsyncConnectionConfig {
        // Each call has its own timeout.
        AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(Some(self.patience))
    }

    async fn connect_to_node(&self, node: &ConnectionInfo) -> Result<Wire> {
        let connected = async { answering(Node::connect(node, &self.access, self.config()).await?).await };
        in_time(self.patience, pin!(connected)).await.unwrap_or_else(|| Err(unreached(self.patience)))
    }

    /// Connects to the master. Asks the sentinels in order until one of them names a master.
    #[cfg(feature = "sentinel")]
    async fn connect_to_master(
        &self,
        sentinels: &[ConnectionInfo],
        settings: &ConnectionInfo,
        watched: &str,
    ) -> Result<Wire> {
        // With the same order, all calls follow the same sentinel while the sentinels disagree. A sentinel that is cut
        // off from the others may name a node that has become a replica, or that is gone and never answers. So each
        // sentinel has one share of the patience, together with its master, and the call keeps one.
        let each = self.patience / u32::try_from(sentinels.len() + 1).unwrap_or(u32::MAX);
        let (mut tried, mut refused) = (vec![], unreached(each));
        for sentinel in sentinels {
            let connected = async {
                let master = super::sentinels::ask(sentinel, watched, &self.access, self.config()).await?;
                if tried.contains(&master) {
                    return Ok(None);
                }
                tried.push(master.clone());
                self.connect_to_node(&settings.clone().set_addr(master)).await.map(Some)
            };
            match in_time(each, pin!(connected)).await.unwrap_or_else(|| Err(unreached(each))) {
                Ok(Some(wire)) => return Ok(wire),
                Ok(None) => {}
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    #[cfg(feature = "cluster")]
    async fn connect_to_cluster(
        &self,
        nodes: Vec<ConnectionInfo>,
        reached: &HashMap<NodeAddress, NodeAddress>,
    ) -> Result<Wire> {
        // The driver would repeat a script whose answer was lost, and would not report the loss. Without retries, it
        // still updates its map of slots when a node reports that a slot has moved.
        nodes.iter().try_for_each(super::dial::check_ciphers)?;
        let nodelay = redis::io::tcp::TcpSettings::default().set_nodelay(true);
        let builder = redis::cluster::ClusterClientBuilder::new(nodes).retries(0).tcp_settings(nodelay);
        let builder = builder.connection_timeout(self.patience / NODE_SHARES).overall_response_timeout(None);
        // Longer than any call, because calls have a timeout of their own.
        let mut builder = builder.response_timeout(storagebox_core::MAX_DURATION);
        if let Some(certificates) = self.access.certificates() {
            builder = builder.certs(certificates);
        }
        if !reached.is_empty() {
            builder = builder.node_address_map(reached.clone());
        }
        let client = builder.build().map_err(error::connecting)?;
        client.get_async_connection().await.map(Wire::Cluster).map_err(error::connecting)
    }
}

fn unreached(within: Duration) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the server could not be reached within {within:?}")).on("redis")
}

/// Checks that the node answers, is a master and is not part of a cluster.
async fn answering(mut node: Node) -> Result<Wire> {
    // Many servers report only at the first command that a password is missing or that they are still loading. On a
    // node of a cluster, a script that does not check its slot could be stopped half-way while the slot moves.
    let mut questions = redis::pipe();
    questions.cmd("PING").ignore();
    for section in ["cluster", "server", "replication"] {
        questions.cmd("INFO").arg(section);
    }
    let info: Vec<String> = questions
        .query_async(&mut node.connection)
        .await
        .map_err(|error| Node::refused(node.line.as_deref(), error))?;
    crate::schema::check_role(&info.concat())?;
    match info.concat().contains("cluster_enabled:1") {
        true => Err(Error::unsupported("one node of a cluster", "the whole cluster, by redis+cluster://").on("redis")),
        false => Ok(Wire::Node(node)),
    }
}

impl Wire {
    /// Returns the state of the stream, or `None` for a cluster and for a stream that the driver opened.
    pub(super) fn line(&self) -> Option<&Line> {
        match self {
            Self::Node(node) => node.line.as_deref(),
            #[cfg(feature = "cluster")]
            Self::Cluster(_) => None,
        }
    }

    pub(super) fn is_cluster(&self) -> bool {
        match self {
            Self::Node(_) => false,
            #[cfg(feature = "cluster")]
            Self::Cluster(_) => true,
        }
    }
}

impl ConnectionLike for Wire {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Node(node) => node.connection.req_packed_command(command),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Node(node) => node.connection.req_packed_commands(pipeline, offset, count),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Node(node) => node.connection.get_db(),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.get_db(),
        }
    }
}
