//! A plain client: the pool and the driver of the library without the library.

use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Object, Pool, RecycleResult, Timeouts};
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use crate::error::Result;

/// The number of connections of the pool, which is the default of a store.
pub(super) const CONNECTIONS: usize = 16;

/// A pool of connections with the settings of a store.
#[derive(Clone)]
pub(super) struct Client(Pool<Connector>);

#[derive(Debug)]
pub(super) struct Connector(PgConnectOptions);

impl Client {
    pub(super) fn new(options: PgConnectOptions) -> Result<Self> {
        let options = options.statement_cache_capacity(128).extra_float_digits(None).disable_statement_logging();
        let options =
            options.options([("statement_timeout", "10000"), ("default_transaction_isolation", "read committed")]);
        let pool = Pool::builder(Connector(options)).max_size(CONNECTIONS).timeouts(Timeouts::new());
        Ok(Self(pool.runtime(Runtime::Tokio1).build().unwrap_or_else(|error| unreachable!("{error}"))))
    }

    pub(super) async fn connection(&self) -> Result<Object<Connector>> {
        Ok(self.0.get().await?)
    }
}

impl Manager for Connector {
    type Type = PgConnection;
    type Error = sqlx::Error;

    async fn create(&self) -> Result<PgConnection, sqlx::Error> {
        self.0.connect().await
    }

    async fn recycle(&self, _: &mut PgConnection, _: &Metrics) -> RecycleResult<sqlx::Error> {
        Ok(())
    }
}
