//! Commands of the server's administrator, without the library.

use std::sync::{MutexGuard, PoisonError};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, FromRedisValue, Pipeline, cmd};
use storagebox_core::Result;

use super::{Server, failed};

impl Server {
    /// Sends a command to the single node.
    pub async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T> {
        self.ask_all(redis::pipe().add_command(command.clone())).await.map(|(answer,)| answer)
    }

    /// Sends commands to the single node, all at once. Sends them again if the server was restarted since the last
    /// ones.
    pub async fn ask_all<T: FromRedisValue>(&self, commands: &Pipeline) -> Result<T> {
        let kept = self.kept().clone();
        if let Some(mut connection) = kept {
            match commands.query_async(&mut connection).await {
                Err(error) if error.is_unrecoverable_error() => {}
                outcome => return outcome.map_err(failed),
            }
        }
        let mut connection = self.connected(&self.urls[0]).await?;
        *self.kept() = Some(connection.clone());
        commands.query_async(&mut connection).await.map_err(failed)
    }

    fn kept(&self) -> MutexGuard<'_, Option<MultiplexedConnection>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns connections to all nodes that are masters.
    pub async fn masters(&self) -> Result<Vec<MultiplexedConnection>> {
        Ok(self.numbered_masters().await?.into_iter().map(|(_, master)| master).collect())
    }

    /// Does the same as [`masters`](Self::masters), with the numbers of the nodes.
    pub async fn numbered_masters(&self) -> Result<Vec<(usize, MultiplexedConnection)>> {
        let mut masters = vec![];
        for (number, url) in self.urls.iter().enumerate() {
            // A killed node is no longer a master, and a node that is being promoted ends its connections.
            let Ok(mut connection) = self.connected(url).await else { continue };
            let role = cmd("ROLE").query_async::<Vec<redis::Value>>(&mut connection).await;
            let Ok(role) = role else { continue };
            if matches!(&role[..], [redis::Value::BulkString(role), ..] if role == b"master") {
                masters.push((number, connection));
            }
        }
        Ok(masters)
    }

    /// Connects to the node of this number.
    pub async fn node(&self, number: usize) -> Result<MultiplexedConnection> {
        self.connected(&self.urls[number]).await
    }

    pub(super) async fn connected(&self, url: &str) -> Result<MultiplexedConnection> {
        let client = match &self.authority {
            None => redis::Client::open(url),
            Some(pem) => {
                let root_cert = Some(pem.clone());
                redis::Client::build_with_tls(url, redis::TlsCertificates { client_tls: None, root_cert })
            }
        };
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let connecting = client.map_err(failed)?;
        connecting.get_multiplexed_async_connection_with_config(&config).await.map_err(failed)
    }
}
