//! The methods of the builder that open a store.

use storagebox_core::{Error, Result};

use super::RedisStore;
use crate::client::{Connections, Server};
use crate::config::{self, At, RedisBuilder};

impl RedisBuilder {
    /// Opens a store by URL. The first call connects.
    ///
    /// The URL is `redis://user:password@host:port/database`, or `rediss://` for TLS. With the feature `cluster` it may
    /// also be `redis+cluster://user:password@host:port,host:port` or `rediss+cluster://`, which name some nodes of a
    /// cluster. The query keys are `prefix`, `call_timeout` (as in `10s`), `remember` (as in `7d`, or `forever`),
    /// `wait` (replicas), `wait_timeout` (as in `500ms`), `require_aof=on|off`, `eviction=refuse|warn`, and
    /// `tls_ca_cert_file`, `tls_cert_file` and `tls_key_file`. This method reads the files at once.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL or a file cannot be read or a query key is unknown. The message never
    /// contains the URL.
    pub fn connect(self, url: &str) -> Result<RedisStore> {
        let (builder, at) = config::read(self, url).map_err(|error| error.on("redis"))?;
        let (access, patience) = (builder.access.clone(), builder.settings.options.call_timeout);
        let connections = builder.connections(Server { at, access, patience })?;
        builder.build(connections)
    }

    /// Opens a store on the server of an existing client, with the client's login and TLS. The store opens its own
    /// connections.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if a setting is out of range.
    pub fn from_client(self, client: &redis::Client) -> Result<RedisStore> {
        let at = At::Node(client.get_connection_info().clone());
        let (access, patience) = (self.access.clone(), self.settings.options.call_timeout);
        let connections = self.connections(Server { at, access, patience })?;
        self.build(connections)
    }

    #[cfg(feature = "pool")]
    pub(crate) fn connections(&self, server: Server) -> Result<Connections> {
        match self.pool {
            Some(connections) => Connections::pooled(server, connections),
            None => Ok(Connections::new(server)),
        }
    }

    #[cfg(not(feature = "pool"))]
    pub(crate) fn connections(&self, server: Server) -> Result<Connections> {
        Ok(Connections::new(server))
    }

    fn build(self, connections: Connections) -> Result<RedisStore> {
        self.settings.checked().map_err(Error::of_configuration)?;
        Ok(RedisStore::with(connections, self.settings))
    }
}
