//! The configuration of a store: its URL or pool, its schema and how it makes its calls.

mod environment;
mod foreign;
mod name;
mod tls;
mod url;

use std::time::Duration;

use storagebox_core::Result;
use storagebox_core::backend::StoreOptions;

pub use name::Schema;
pub(crate) use url::{Url, read};

/// Builds a [`PostgresStore`](crate::PostgresStore).
#[derive(Clone, Debug)]
pub struct PostgresBuilder {
    pub(crate) settings: Settings,
    pub(crate) max_connections: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) schema: Schema,
    pub(crate) options: StoreOptions,
    pub(crate) statements: Statements,
    pub(crate) combining: bool,
}

impl Settings {
    /// Returns nine tenths of the call timeout, so that the server ends a late statement, and reports that nothing was
    /// applied, before the call times out.
    pub(crate) fn statement_timeout(&self) -> Duration {
        self.options.call_timeout / 10 * 9
    }
}

/// How statements are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Statements {
    /// Prepares each statement once per connection, which is the fastest way. Behind a pooler that gives each
    /// transaction another connection, this needs PgBouncer 1.21 or later with `max_prepared_statements`.
    #[default]
    Prepared,
    /// Sends one message of the simple protocol per call, with every argument as a hexadecimal literal. Works behind
    /// any pooler.
    Simple,
}

impl Default for PostgresBuilder {
    fn default() -> Self {
        let settings = Settings {
            schema: Schema::default(),
            options: StoreOptions::default(),
            statements: Statements::Prepared,
            combining: true,
        };
        Self { settings, max_connections: 16 }
    }
}

impl PostgresBuilder {
    /// Sets the schema that contains all objects of the store. Defaults to `storagebox`.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` unless the name has 1 to 40 of the characters `a` to `z`, `0` to `9` and `_`, and begins
    /// with a letter or `_`. Also returns `Misconfigured` for `public`, where other roles may create objects.
    pub fn schema(mut self, name: &str) -> Result<Self> {
        self.settings.schema = Schema::new(name)?;
        Ok(self)
    }

    storagebox_core::store_options!("schema", call_timeout);

    /// Sets how statements are sent.
    #[must_use]
    pub fn statements(mut self, statements: Statements) -> Self {
        self.settings.statements = statements;
        self
    }

    /// Sets whether calls of one kind that arrive during another call go to the server together. Defaults to on.
    #[must_use]
    pub fn combining(mut self, on: bool) -> Self {
        self.settings.combining = on;
        self
    }

    /// Sets the maximum number of connections that the store opens. Defaults to 16. Has no effect on an existing pool.
    #[must_use]
    pub fn max_connections(mut self, most: usize) -> Self {
        self.max_connections = most;
        self
    }
}

impl Settings {
    pub(crate) fn checked(self) -> Result<Self> {
        self.options.checked().map(|()| self)
    }
}
