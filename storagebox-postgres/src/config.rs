//! What a store is made of: its URL or pool, its schema and how it goes about its calls.

mod tls;
mod url;

use std::time::Duration;

use sqlx::PgPool;
use storagebox_core::{Error, Result, Retention, checked_duration};

use crate::client::Connections;
use crate::schema::Schema;
use crate::store::PostgresStore;

/// Builds a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresBuilder {
    pub(crate) settings: Settings,
    pub(crate) max_connections: usize,
}

/// What every box of a store shares.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) schema: Schema,
    pub(crate) memory: Option<Retention>,
    pub(crate) call_timeout: Duration,
    pub(crate) statements: Statements,
    pub(crate) combining: bool,
}

impl Settings {
    /// A tenth less than a call: so the server gives up first and says that nothing was applied, where the end of the call
    /// would leave that open.
    pub(crate) fn statement_timeout(&self) -> Duration {
        self.call_timeout / 10 * 9
    }
}

/// How statements are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Statements {
    /// Prepared once for each connection: the fastest way. Behind a pooler that gives each transaction another
    /// connection it needs PgBouncer 1.21 or later with `max_prepared_statements`.
    #[default]
    Prepared,
    /// One message of the simple protocol for each call, every argument in it as a hexadecimal literal: right
    /// behind any pooler.
    Simple,
}

impl Default for PostgresBuilder {
    fn default() -> Self {
        let settings = Settings {
            schema: Schema::default(),
            memory: None,
            call_timeout: Duration::from_secs(10),
            statements: Statements::Prepared,
            combining: true,
        };
        Self { settings, max_connections: 16 }
    }
}

impl PostgresBuilder {
    /// The schema that holds everything; `storagebox` unless told otherwise.
    ///
    /// # Errors
    ///
    /// `Misconfigured` unless it is 1 to 40 of `a` to `z`, `0` to `9` and `_`, and begins with a letter or `_`; `public`,
    /// where others may create things, is none.
    pub fn schema(mut self, name: &str) -> Result<Self> {
        self.settings.schema = Schema::new(name)?;
        Ok(self)
    }

    /// How long ended claims, gone tokens and ended operations are remembered. `setup` keeps it with the schema that it makes,
    /// seven days unless told otherwise; everybody goes by that, upkeep too. Who says nothing here opens a schema with any;
    /// who says something else than the schema is refused, as `Misconfigured`.
    #[must_use]
    pub fn memory(mut self, retention: Retention) -> Self {
        self.settings.memory = Some(retention);
        self
    }

    /// How long a call may take, its own retries included; ten seconds unless told otherwise. A call that took longer
    /// is `OutcomeUnknown`.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.settings.call_timeout = timeout;
        self
    }

    /// How statements are sent.
    #[must_use]
    pub fn statements(mut self, statements: Statements) -> Self {
        self.settings.statements = statements;
        self
    }

    /// Whether calls of one kind that come while another is under way go to the server together; on unless told
    /// otherwise.
    #[must_use]
    pub fn combining(mut self, on: bool) -> Self {
        self.settings.combining = on;
        self
    }

    /// The most connections that the store opens; 16 unless told otherwise. Not used with a pool that is handed in.
    #[must_use]
    pub fn max_connections(mut self, most: usize) -> Self {
        self.max_connections = most;
        self
    }

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
        let (builder, options) = url::read(self, url).map_err(|error| error.on("postgres"))?;
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
        self.settings.memory.unwrap_or(Retention::DEFAULT).checked().map_err(Error::of_configuration)?;
        checked_duration("call timeout", self.settings.call_timeout).map_err(Error::of_configuration)?;
        Ok(PostgresStore::with(connections, self.settings))
    }
}

/// What makes no sense for the setting of this name.
pub(crate) fn bad(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::misconfigured(setting, why).on("postgres")
}
