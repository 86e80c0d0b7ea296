//! What the sentinels say: which node is the master now.

use redis::{AsyncConnectionConfig, ConnectionAddr, ConnectionInfo, RedisError};
use storagebox_core::{Error, ErrorKind, Result};
use tokio::task::JoinSet;

use super::dial::Node;
use crate::config::Access;
use crate::error;

const NO_MASTER: &str = "the sentinels know no master of the name in the URL";
const NO_SENTINEL: &str = "leads to a server that is no sentinel";

/// The master that the first of them tells of. They are asked at once, so that one that is silent holds up nobody.
pub(super) async fn master(
    sentinels: &[ConnectionInfo],
    watched: &str,
    access: &Access,
    config: &AsyncConnectionConfig,
) -> Result<ConnectionAddr> {
    let mut asked = JoinSet::new();
    for sentinel in sentinels {
        let sentinel = access.sentinels.as_ref().map_or_else(|| sentinel.clone(), |login| login.of(sentinel));
        let (access, config, watched) = (access.clone(), config.clone(), watched.to_owned());
        asked.spawn(async move { ask(&sentinel, &watched, &access, config).await });
    }
    let mut refused = Error::new(ErrorKind::Unavailable, error::UNREACHABLE).on("redis");
    while let Some(answered) = asked.join_next().await {
        match answered {
            Ok(Ok(master)) => return Ok(master),
            Ok(Err(error)) => refused = error,
            Err(panicked) => refused = refused.caused_by(panicked),
        }
    }
    Err(refused)
}

async fn ask(
    sentinel: &ConnectionInfo,
    watched: &str,
    access: &Access,
    config: AsyncConnectionConfig,
) -> Result<ConnectionAddr> {
    let mut node = Node::connect(sentinel, access, config).await?;
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
