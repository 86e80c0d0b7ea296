//! Opens a store: the last methods of its builder.

use sqlx::PgPool;
use storagebox_core::Result;

use super::PostgresStore;
use crate::client::Connections;
use crate::config::{self, PostgresBuilder};

impl PostgresBuilder {
    /// Opens a store by URL. The first call connects.
    ///
    /// The URL is `postgres://user:password@host:port/database`. The query keys are the driver's own keys (`sslmode`,
    /// `sslrootcert`, `application_name` and others) and `schema`, `statements=prepared|simple`, `combining=on|off`,
    /// `max_connections`, `call_timeout` (as in `10s`) and `remember` (as in `7d`, or `forever`).
    ///
    /// Without an `sslmode`, a connection to another machine must be encrypted (`require`, which checks no
    /// certificate). If `sslrootcert` names the server's CA, the server must present a valid certificate
    /// (`verify-full`).
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL cannot be read or has a `#`, or a query key is unknown. The message never
    /// contains the URL.
    pub fn connect(self, url: &str) -> Result<PostgresStore> {
        let (builder, url) = config::read(self, url).map_err(|error| error.on("postgres"))?;
        let connections = Connections::own(url, builder.max_connections, &builder.settings)?;
        builder.build(connections)
    }

    /// Opens a store on an existing pool. The caller keeps the pool and is responsible for its limits, its hooks and
    /// closing it.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if a setting is out of range.
    pub fn from_pool(self, pool: PgPool) -> Result<PostgresStore> {
        self.build(Connections::Shared(pool))
    }

    fn build(self, connections: Connections) -> Result<PostgresStore> {
        Ok(PostgresStore::with(connections, self.settings.checked()?))
    }
}
