//! Queues in a schema of a PostgreSQL database.

mod delivery;
mod reader;
mod statements;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use sqlx::{PgPool, raw_sql};
use storagebox_core::{BoxError, Destination, Dispatcher, Outgoing, Result, checked_duration};
use storagebox_postgres::PostgresServer;
use storagebox_postgres::sql::Schema;

use crate::reader::deliveries;
use reader::Reader;
use statements::Statements;

pub use delivery::PostgresDelivery;

/// The schema of the table if no schema is named.
const SCHEMA: &str = "storagebox_queues";

/// Queues in a schema of a PostgreSQL database. Clones share a pool.
///
/// One table holds the messages of all queues. A queue is named by the destination of its messages. The server's clock
/// decides when leases and pauses end. The receipt of a delivery is a number that changes each time the message is
/// handed out, so a late call of an earlier worker changes nothing.
///
/// Workers poll: a new message waits for up to 100 ms.
#[derive(Clone, Debug)]
pub struct PostgresQueues {
    server: PostgresServer,
    statements: Arc<Statements>,
    lease: Duration,
}

impl PostgresQueues {
    /// Opens the queues of a database by the URL of a store, which
    /// [`PostgresServer`](storagebox_postgres::PostgresServer::connect) reads. The first call connects. The key
    /// `schema` names the schema of the table; beside a store, it may be the store's.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read or a query key is unknown, and `Unsupported` for
    /// `statements=simple`. The message never contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        let server = PostgresServer::connect(url)?;
        let schema = server.schema().unwrap_or(SCHEMA).to_owned();
        Self::of(server).schema(&schema)
    }

    /// Uses an existing pool, whose sessions are at READ COMMITTED.
    pub fn from_pool(pool: PgPool) -> Self {
        Self::of(PostgresServer::from_pool(pool))
    }

    fn of(server: PostgresServer) -> Self {
        Self { server, statements: Arc::new(Statements::new(SCHEMA)), lease: Duration::from_secs(30) }
    }

    /// Sets the schema of the table. Defaults to the `schema` of the URL, or else to `storagebox_queues`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` unless the name has 1 to 40 of the characters `a` to `z`, `0` to `9` and `_`, and begins
    /// with a letter or `_`. Also returns `Misconfigured` for `public` and for names that begin with `pg_`.
    pub fn schema(mut self, name: &str) -> Result<Self> {
        self.statements = Arc::new(Statements::new(&Schema::new(name)?.to_string()));
        Ok(self)
    }

    /// Sets how long a message is handed out. Defaults to 30 seconds.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` for a lease under 1 ms or over 100 years.
    pub fn lease(mut self, lease: Duration) -> Result<Self> {
        self.lease = checked_duration("lease", lease)?;
        Ok(self)
    }

    /// Creates the schema and its table if they do not exist. The role must be allowed to create a schema. The roles of
    /// workers and senders need `USAGE` on the schema and on its sequence, and all rights on the table.
    ///
    /// # Cancel safety
    ///
    /// Safe. It is one transaction.
    ///
    /// # Errors
    ///
    /// Errors of the server.
    pub async fn setup(&self) -> Result<()> {
        let setup = raw_sql(self.statements.setup.clone());
        self.server.call(async |connection| setup.execute(connection).await.map(drop)).await
    }

    /// Returns the messages of a queue, one statement per message. For more statements at once, merge several of these
    /// streams with [`select_all`](futures_util::stream::select_all()).
    ///
    /// Poll the stream inside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// If the stream is dropped while it reads, the message that it reads is given back.
    ///
    /// # Errors
    ///
    /// Errors of the server are items of the stream, which continues after them.
    pub fn deliveries(
        &self,
        queue: &Destination,
    ) -> impl Stream<Item = Result<PostgresDelivery, BoxError>> + Send + 'static {
        deliveries(Reader::new(self.clone(), queue.clone()))
    }

    /// Returns how many messages of a queue are parked.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// Errors of the server.
    pub async fn parked(&self, queue: &Destination) -> Result<u64> {
        let count = sqlx::query_scalar(self.statements.parked.clone()).bind(queue.as_str());
        let count: i64 = self.server.call(async |connection| count.fetch_one(connection).await).await?;
        Ok(count.unsigned_abs())
    }

    /// Sends the oldest parked messages again, up to `max`, with their ids and tokens. Returns how many.
    ///
    /// # Cancel safety
    ///
    /// All of them are sent, or none.
    ///
    /// # Errors
    ///
    /// Errors of the server.
    pub async fn redrive(&self, queue: &Destination, max: u32) -> Result<u64> {
        let redrive = sqlx::query(self.statements.redrive.clone()).bind(queue.as_str()).bind(i64::from(max));
        Ok(self.server.call(async |connection| redrive.execute(connection).await).await?.rows_affected())
    }
}

/// Sends each message to the queue that its destination names, all of them or none.
#[async_trait]
impl Dispatcher for PostgresQueues {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        let texts = |text: fn(&Outgoing) -> &str| messages.iter().map(|one| text(one).to_owned()).collect::<Vec<_>>();
        let bodies: Vec<_> = messages.iter().map(|message| message.body.as_bytes().to_vec()).collect();
        let send = sqlx::query(self.statements.send.clone())
            .bind(texts(|message| message.destination.as_str()))
            .bind(texts(|message| message.id.as_str()))
            .bind(texts(|message| message.token.as_str()))
            .bind(bodies);
        self.server.call(async |connection| send.execute(connection).await).await?;
        Ok(())
    }
}
