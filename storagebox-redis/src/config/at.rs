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
        /// The address at which a node is reached, by the address that the node announces, if they differ.
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
