//! Where a store is.

#[cfg(feature = "cluster")]
use std::collections::HashMap;

use redis::ConnectionInfo;
#[cfg(feature = "cluster")]
use redis::cluster::NodeAddress;

/// One node, or some of a cluster's.
#[derive(Clone)]
pub(crate) enum At {
    Node(ConnectionInfo),
    #[cfg(feature = "cluster")]
    Cluster {
        nodes: Vec<ConnectionInfo>,
        /// Nodes that are reached at another address than the one that they say.
        reached: HashMap<NodeAddress, NodeAddress>,
    },
    #[cfg(feature = "sentinel")]
    Sentinels {
        sentinels: Vec<ConnectionInfo>,
        /// How a node is connected to, but for its address.
        settings: ConnectionInfo,
        /// The name by which the sentinels know the master.
        watched: String,
    },
}
