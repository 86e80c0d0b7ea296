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

/// The code of a wait for a lock that took too long.
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// The code of a lease that is over.
const LEASE_OVER: &str = "SB004";

/// A session of the role with the least rights.
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

    /// Runs statements.
    async fn run(&mut self, sql: &str) -> Result<()> {
        tell(&mut self.session, &sql.replace("{schema}", &self.schema)).await
    }

    /// Returns the columns of each row that a function returns, in one text without nulls.
    async fn rows(&mut self, columns: &str, call: &str) -> Result<Vec<String>, sqlx::Error> {
        let sql = format!("SELECT concat_ws(' ', {columns}) FROM {}.{call}", self.schema);
        query_scalar(AssertSqlSafe(sql)).fetch_all(&mut self.session).await
    }

    /// Returns the columns of the only row.
    async fn says(&mut self, columns: &str, call: &str) -> Result<String> {
        let rows = self.rows(columns, call).await.map_err(failed)?;
        assert_eq!(rows.len(), 1, "{call}");
        Ok(rows.concat())
    }

    /// Returns the outcome of the only row.
    async fn outcome(&mut self, call: &str) -> Result<String> {
        self.says("outcome", call).await
    }

    /// Returns the outcome of a call in a transaction of its own, which begins again if the machine was too busy for its
    /// waits.
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

    /// Returns the SQLSTATE with which a call is refused; the outcome if it is not.
    async fn refusal(&mut self, call: &str) -> String {
        match self.rows("r::text", &format!("{call} r")).await {
            Err(error) => code(&error),
            Ok(rows) => format!("{rows:?}"),
        }
    }
}

/// Calls each function, in a session of this URL. The statements name nothing else that is looked up.
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
