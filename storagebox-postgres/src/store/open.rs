//! How a store is opened: the end of its builder.

use sqlx::PgPool;
use storagebox_core::Result;

use super::PostgresStore;
use crate::client::Connections;
use crate::config::{self, PostgresBuilder};

impl PostgresBuilder {
    /// A store by its URL. Connects with the first call, not before.
    ///
    /// `postgres://user:password@host:port/database`, with the driver's own query keys (`sslmode`, `sslrootcert`,
    /// `application_name` and the like) and `schema`, `statements=prepared|simple`, `combining=on|off`,
    /// `max_connections`, `call_timeout` (as in `10s`) and `memory` (as in `7d`, or `forever`).
    ///
    /// Without an `sslmode`, a server on another machine is spoken to encrypted or not at all (`require`, which checks no
    /// certificate). One that `sslrootcert` names the authority of must prove itself (`verify-full`).
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a URL that cannot be read or has a `#`, or a key that is not known; never shows the URL.
    pub fn connect(self, url: &str) -> Result<PostgresStore> {
        let (builder, options) = config::read(self, url).map_err(|error| error.on("postgres"))?;
        let connections = Connections::own(options, builder.max_connections, &builder.settings)?;
        builder.build(connections)
    }

    /// A store on a pool that the caller has and keeps: its limits, its hooks and its closing are the caller's.
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a setting that is out of its range.
    pub fn from_pool(self, pool: PgPool) -> Result<PostgresStore> {
        self.build(Connections::Shared(pool))
    }

    fn build(self, connections: Connections) -> Result<PostgresStore> {
        Ok(PostgresStore::with(connections, self.settings.checked()?))
    }
}
