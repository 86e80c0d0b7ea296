//! The library's script through a pool. Each call has a connection for itself.

use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Pool, RecycleResult};
use redis::aio::MultiplexedConnection;
use redis::{Client, RedisError, cmd};

use super::bank::Bank;
use super::plain::Take;
use super::server::{Server, patient};
use crate::error::Result;
use crate::rows::side::Caller;

#[derive(Clone)]
pub(super) struct PooledTakes {
    take: Take,
    pool: Pool<Connector>,
}

pub(super) struct Connector(Client);

impl PooledTakes {
    /// Creates a pool with as many connections as callers, so that no caller waits for a connection.
    pub(super) async fn new(server: &Server, bank: &Bank, callers: usize) -> Result<Self> {
        let pool =
            Pool::<Connector>::builder(Connector(server.client().await?)).max_size(callers).runtime(Runtime::Tokio1);
        let pool = pool.build().unwrap_or_else(|error| unreachable!("{error}"));
        let take = Take::new(bank, &mut *pool.get().await?).await?;
        Ok(Self { take, pool })
    }
}

impl Caller for PooledTakes {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        self.take.call(claim, &mut *self.pool.get().await?).await
    }
}

impl Manager for Connector {
    type Type = MultiplexedConnection;
    type Error = RedisError;

    async fn create(&self) -> Result<MultiplexedConnection, RedisError> {
        self.0.get_multiplexed_async_connection_with_config(&patient()).await
    }

    /// Checks the connection with `PING`, as deadpool-redis does.
    async fn recycle(&self, connection: &mut MultiplexedConnection, _: &Metrics) -> RecycleResult<RedisError> {
        cmd("PING").exec_async(connection).await?;
        Ok(())
    }
}
