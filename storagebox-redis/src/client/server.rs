//! The server: one node or a cluster, and how it is connected to.

#[cfg(feature = "cluster")]
use std::collections::HashMap;
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
#[cfg(feature = "cluster")]
use redis::cluster::NodeAddress;
#[cfg(feature = "cluster")]
use redis::cluster_async::ClusterConnection;
use redis::{AsyncConnectionConfig, Cmd, ConnectionInfo, Pipeline, RedisError, RedisFuture, Value};
use storagebox_core::{Error, Result};

use crate::config::{Access, At};
use crate::error;

/// Where a store is.
pub(crate) struct Server {
    pub(crate) at: At,
    pub(crate) access: Access,
    /// How long it may take to connect.
    pub(crate) patience: Duration,
}

/// A connection, whose clones are the same one.
#[derive(Clone)]
pub(super) enum Wire {
    Node(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(ClusterConnection),
}

impl Server {
    /// Whether it is a cluster, whose connection finds its way back by itself, node by node.
    pub(super) fn is_cluster(&self) -> bool {
        match &self.at {
            At::Node(_) => false,
            #[cfg(feature = "cluster")]
            At::Cluster { .. } => true,
            #[cfg(feature = "sentinel")]
            At::Sentinels { .. } => false,
        }
    }

    /// Whether sentinels say which node is the master.
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
        trust_some_cipher();
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

    /// The driver would give up an answer after half a second; the calls have a time of their own.
    async fn connect_to_node(&self, node: &ConnectionInfo) -> Result<Wire> {
        let client = self.client(node).map_err(error::connecting)?;
        let connected = client.get_multiplexed_async_connection_with_config(&self.config()).await;
        answering(connected.map_err(error::connecting)?).await
    }

    fn config(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(Some(self.patience))
    }

    /// Whatever node the sentinels call the master now.
    #[cfg(feature = "sentinel")]
    async fn connect_to_master(
        &self,
        sentinels: &[ConnectionInfo],
        settings: &ConnectionInfo,
        watched: &str,
    ) -> Result<Wire> {
        let mut client = self.sentinels(sentinels, settings, watched).map_err(error::connecting)?;
        let connected = client.get_async_connection_with_config(&self.config()).await;
        answering(connected.map_err(error::connecting)?).await
    }

    #[cfg(feature = "sentinel")]
    fn sentinels(
        &self,
        sentinels: &[ConnectionInfo],
        settings: &ConnectionInfo,
        watched: &str,
    ) -> Result<redis::sentinel::SentinelClient, RedisError> {
        use redis::sentinel::{SentinelClientBuilder, SentinelServerType};
        let addresses = sentinels.iter().map(|sentinel| sentinel.addr().clone());
        let (login, tcp) = (settings.redis_settings(), settings.tcp_settings());
        let mut builder = SentinelClientBuilder::new(addresses, watched, SentinelServerType::Master)?
            .set_client_to_redis_tcp_settings(tcp.clone())
            .set_client_to_sentinel_tcp_settings(tcp.clone());
        if matches!(settings.addr(), redis::ConnectionAddr::TcpTls { .. }) {
            let secure = redis::TlsMode::Secure;
            builder = builder.set_client_to_redis_tls_mode(secure).set_client_to_sentinel_tls_mode(secure);
        }
        if let Some(certificates) = self.access.certificates() {
            builder = builder.set_client_to_redis_certificates(certificates.clone());
            builder = builder.set_client_to_sentinel_certificates(certificates);
        }
        if let Some(own) = &self.access.sentinels {
            builder = builder.set_client_to_sentinel_password(own.password());
            if let Some(user) = own.user() {
                builder = builder.set_client_to_sentinel_username(user);
            }
        }
        if let Some(user) = login.username() {
            builder = builder.set_client_to_redis_username(user);
        }
        if let Some(password) = login.password() {
            builder = builder.set_client_to_redis_password(password);
        }
        builder.build()
    }

    fn client(&self, node: &ConnectionInfo) -> Result<redis::Client, RedisError> {
        match self.access.certificates() {
            None => redis::Client::open(node.clone()),
            Some(certificates) => redis::Client::build_with_tls(node.clone(), certificates),
        }
    }

    /// Without retries: the driver would send a script again whose answer was lost, and tell nobody. It still learns
    /// which node has which slot whenever one says that it has moved.
    #[cfg(feature = "cluster")]
    async fn connect_to_cluster(
        &self,
        nodes: Vec<ConnectionInfo>,
        reached: &HashMap<NodeAddress, NodeAddress>,
    ) -> Result<Wire> {
        let nodelay = redis::io::tcp::TcpSettings::default().set_nodelay(true);
        let builder = redis::cluster::ClusterClientBuilder::new(nodes).retries(0).tcp_settings(nodelay);
        let builder = builder.connection_timeout(self.patience).overall_response_timeout(None);
        // Longer than any call: calls have a time of their own.
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

/// Many servers say only now that they want a password, or are still loading. A node of a cluster is refused here: a
/// script that does not know of slots would be stopped half-way by one that moves.
async fn answering(mut connection: MultiplexedConnection) -> Result<Wire> {
    let mut questions = redis::pipe();
    questions.cmd("PING").ignore().cmd("INFO").arg("cluster");
    let (info,): (String,) = questions.query_async(&mut connection).await.map_err(error::connecting)?;
    match info.contains("cluster_enabled:1") {
        true => Err(Error::unsupported("one node of a cluster", "the whole cluster, by redis+cluster://").on("redis")),
        false => Ok(Wire::Node(connection)),
    }
}

/// The driver's TLS needs to be told which implementation of the ciphers to use, and panics otherwise.
fn trust_some_cipher() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Somebody else may have been quicker, with a choice that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

impl Wire {
    /// As the server's.
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
            Self::Node(connection) => connection.req_packed_command(command),
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
            Self::Node(connection) => connection.req_packed_commands(pipeline, offset, count),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Node(connection) => connection.get_db(),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.get_db(),
        }
    }
}
