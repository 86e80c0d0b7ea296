//! What a store is made of: its URL or pool, its schema and how it goes about its calls.

mod name;
mod tls;
mod url;

use std::time::Duration;

use storagebox_core::{Error, Result, Retention, checked_duration};

pub(crate) use name::Schema;
pub(crate) use url::read;

/// Builds a [`PostgresStore`](crate::PostgresStore).
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
}

impl Settings {
    pub(crate) fn checked(self) -> Result<Self> {
        self.memory.unwrap_or(Retention::DEFAULT).checked().map_err(Error::of_configuration)?;
        checked_duration("call timeout", self.call_timeout).map_err(Error::of_configuration)?;
        Ok(self)
    }
}
