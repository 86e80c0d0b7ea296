//! The address of a store.

#[cfg(feature = "cluster")]
use std::collections::HashMap;

use redis::ConnectionInfo;
#[cfg(feature = "cluster")]
use redis::cluster::NodeAddress;

/// Where the server is: one node, some nodes of a cluster, or sentinels.
#[derive(Clone)]
pub(crate) enum At {
    Node(ConnectionInfo),
    #[cfg(feature = "cluster")]
    Cluster {
        nodes: Vec<ConnectionInfo>,
        /// Maps the address that a node announces to the address at which the store reaches the node.
        reached: HashMap<NodeAddress, NodeAddress>,
    },
    #[cfg(feature = "sentinel")]
    Sentinels {
        sentinels: Vec<ConnectionInfo>,
        /// The connection settings of the master, with a placeholder as address.
        settings: ConnectionInfo,
        /// The name of the master in the sentinels' configuration.
        watched: String,
    },
}
