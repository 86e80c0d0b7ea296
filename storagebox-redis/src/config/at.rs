//! The address of a store.

#[cfg(feature = "cluster")]
use std::collections::HashMap;

use redis::ConnectionInfo;
#[cfg(feature = "cluster")]
use redis::cluster::NodeAddress;

/// The address of a node, of some nodes of a cluster, or of sentinels.
#[derive(Clone)]
pub(crate) enum At {
    Node(ConnectionInfo),
    #[cfg(feature = "cluster")]
    Cluster {
        nodes: Vec<ConnectionInfo>,
        /// Maps the address that a node announces to the address at which the node is reached, if they differ.
        reached: HashMap<NodeAddress, NodeAddress>,
    },
    #[cfg(feature = "sentinel")]
    Sentinels {
        sentinels: Vec<ConnectionInfo>,
        /// The connection settings of a node, except its address.
        settings: ConnectionInfo,
        /// The name by which the sentinels know the master.
        watched: String,
    },
}
