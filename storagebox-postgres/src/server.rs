//! A database for data beside a store: it takes the same URL, refuses the same settings and connects in the same way.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgConnection;
use storagebox_core::backend::{StoreOptions, in_time, url};
use storagebox_core::{Error, Result};

use crate::client::Connections;
use crate::config;
use crate::{PostgresStore, Statements, error};

/// A Postgres database that a program, such as a message transport, uses beside a store. Its URL is read like that of a
/// [`PostgresStore`]. Clones share its connections.
///
/// Each call takes at most the `call_timeout` of the URL. Errors mean what they mean for a store.
#[derive(Clone)]
pub struct PostgresServer {
    connections: Arc<Connections>,
    call_timeout: Duration,
    schema: Option<String>,
}

impl PostgresServer {
    /// Opens a database by the URL of a store. The first call connects. The sessions have the settings of a store's
    /// sessions: they run at READ COMMITTED, and it is an error to read rows that a row policy would hide.
    ///
    /// `schema`, `max_connections`, `connect_timeout`, `call_timeout` and the driver's own keys mean what they mean for
    /// a store. `combining` and `remember` apply to a store only, and change nothing here.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read or has a `#`, or a query key is unknown, and `Unsupported` for
    /// `statements=simple`. The message never contains the URL.
    pub fn connect(url: &str) -> Result<Self> {
        let (builder, read) = config::read(PostgresStore::builder(), url).map_err(|error| error.on("postgres"))?;
        if builder.settings.statements == Statements::Simple {
            let what = "statements=simple for statements of the program";
            return Err(Error::unsupported(what, "a direct connection, or a pooler in session mode").on("postgres"));
        }
        let (settings, most) = (builder.settings.checked()?, builder.max_connections);
        let schema = url::has_key(url, "schema").then(|| settings.schema.to_string());
        let connections = Arc::new(Connections::own(read, most, &settings)?);
        Ok(Self { connections, call_timeout: settings.options.call_timeout, schema })
    }

    /// Uses an existing pool. The caller keeps it, and is responsible for its sessions.
    pub fn from_pool(pool: PgPool) -> Self {
        let call_timeout = StoreOptions::default().call_timeout;
        Self { connections: Arc::new(Connections::Shared(pool)), call_timeout, schema: None }
    }

    /// Returns the `schema` of the URL, if it names one.
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// Runs `call` on a connection, and then gives the connection back.
    ///
    /// # Cancel safety
    ///
    /// The server may have run the statements, and committed them. They are not repeated here, and have no operation
    /// id: repeat them only if running them twice does no harm.
    ///
    /// # Errors
    ///
    /// Returns the errors of the connection and those of `call`, mapped to their kinds.
    pub async fn call<T>(&self, call: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>) -> Result<T> {
        let late = || Error::unknown(format!("there was no answer within {:?}", self.call_timeout)).on("postgres");
        in_time(self.call_timeout, pin!(self.made(call))).await.unwrap_or_else(|| Err(late()))
    }

    async fn made<T>(&self, call: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>) -> Result<T> {
        let mut held = Box::pin(self.connections.dedicated()).await?;
        let answer = call(held.connection()?).await;
        held.end(answer.as_ref().err());
        answer.map_err(|error| error::of(error, true))
    }
}

/// Leaves out the address, which contains a login.
impl fmt::Debug for PostgresServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresServer").field("connections", &self.connections).finish_non_exhaustive()
    }
}
