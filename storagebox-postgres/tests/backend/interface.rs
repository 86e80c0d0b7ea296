//! The SQL interface: its functions answer what the library answers about the same namespace, in any transaction of a
//! caller that knows nothing of the library.

mod banks;
mod counters;
mod records;
mod refusals;
mod rights;
mod statements;
mod transactions;
mod values;

use sqlx::{AssertSqlSafe, Connection, PgConnection, query, query_scalar};
use storagebox_core::Result;

use crate::scene::tell;
use crate::support::{Place, failed};

/// The SQLSTATE of a wait for a lock that timed out.
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// The SQLSTATE of a call under a lease that is over.
const LEASE_OVER: &str = "SB004";

struct Caller {
    session: PgConnection,
    schema: String,
}

impl Caller {
    async fn connect(place: &Place) -> Result<Self> {
        Self::connect_to(place, &place.url_at(place.database.server())).await
    }

    async fn connect_to(place: &Place, url: &str) -> Result<Self> {
        let session = PgConnection::connect(url).await.map_err(failed)?;
        Ok(Self { session, schema: place.schema.clone() })
    }

    async fn run(&mut self, sql: &str) -> Result<()> {
        tell(&mut self.session, &sql.replace("{schema}", &self.schema)).await
    }

    /// Calls a function that returns rows. Returns the columns of each row as one text, without nulls.
    async fn rows(&mut self, columns: &str, call: &str) -> Result<Vec<String>, sqlx::Error> {
        let sql = format!("SELECT concat_ws(' ', {columns}) FROM {}.{call}", self.schema);
        query_scalar(AssertSqlSafe(sql)).fetch_all(&mut self.session).await
    }

    /// Calls a function that returns one row. Returns the columns as one text.
    async fn says(&mut self, columns: &str, call: &str) -> Result<String> {
        let rows = self.rows(columns, call).await.map_err(failed)?;
        assert_eq!(rows.len(), 1, "{call}");
        Ok(rows.concat())
    }

    async fn outcome(&mut self, call: &str) -> Result<String> {
        self.says("outcome", call).await
    }

    /// Makes a call in its own transaction, and returns its outcome. Repeats the transaction if waiting for a lock
    /// times out.
    async fn in_transaction(&mut self, call: &str) -> Result<String> {
        loop {
            self.run("BEGIN").await?;
            match self.rows("outcome", call).await {
                Err(error) if code(&error) == LOCK_NOT_AVAILABLE => self.run("ROLLBACK").await?,
                rows => {
                    self.run("COMMIT").await?;
                    return Ok(rows.map_err(failed)?.concat());
                }
            }
        }
    }

    /// Returns the SQLSTATE with which the call is refused, or its rows if it succeeds.
    async fn refusal(&mut self, call: &str) -> String {
        match self.rows("r::text", &format!("{call} r")).await {
            Err(error) => code(&error),
            Ok(rows) => format!("{rows:?}"),
        }
    }
}

/// Calls each function in a session at this URL.
pub(crate) async fn call_each(place: &Place, url: &str) -> Result<()> {
    let mut caller = Caller::connect_to(place, url).await?;
    for call in refusals::CALLS {
        let sql = format!("SELECT FROM {}.{}", caller.schema, call.replace("{}", "'fine'"));
        match query(AssertSqlSafe(sql)).execute(&mut caller.session).await {
            Err(error) if code(&error) != LEASE_OVER => return Err(failed(format!("{call}: {error}"))),
            _ => {}
        }
    }
    Ok(())
}

fn code(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code());
    code.map_or_else(|| error.to_string(), |code| code.into_owned())
}
