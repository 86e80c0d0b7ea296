//! Asks a sentinel which node is the master now.

use redis::{AsyncConnectionConfig, ConnectionAddr, ConnectionInfo, RedisError};
use storagebox_core::{Error, ErrorKind, Result};

use super::dial::Node;
use crate::config::Access;
use crate::error;

const NO_MASTER: &str = "the sentinels know no master with the name in the URL";
const NO_SENTINEL: &str = "leads to a server that is not a sentinel";

/// Asks the sentinel for the address of the master named `watched`.
pub(super) async fn ask(
    sentinel: &ConnectionInfo,
    watched: &str,
    access: &Access,
    config: AsyncConnectionConfig,
) -> Result<ConnectionAddr> {
    let sentinel = access.sentinels.as_ref().map_or_else(|| sentinel.clone(), |login| login.of(sentinel));
    let mut node = Node::connect(&sentinel, access, config).await?;
    let mut question = redis::cmd("SENTINEL");
    let answer = question.arg("GET-MASTER-ADDR-BY-NAME").arg(watched).query_async(&mut node.connection).await;
    let known: Option<(String, u16)> = answer.map_err(|error| refused(&node, error))?;
    let (host, port) = known.ok_or_else(|| Error::new(ErrorKind::Unavailable, NO_MASTER).on("redis"))?;
    Ok(match sentinel.addr() {
        ConnectionAddr::TcpTls { .. } => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
        _ => ConnectionAddr::Tcp(host, port),
    })
}

fn refused(node: &Node, error: RedisError) -> Error {
    match error.detail().is_some_and(|detail| detail.contains("unknown command")) {
        true => error::bad("url", NO_SENTINEL).caused_by(error),
        false => Node::refused(node.line.as_deref(), error),
    }
}
