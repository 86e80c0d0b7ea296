//! The connection of a transaction of the caller (J-1 to J-3).

use std::convert::Infallible;
use std::future::pending;

use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::{Arguments, AssertSqlSafe, query_with};
use storagebox_core::{Ids, RandomIds, Result, Transaction, async_trait};
use tokio::sync::{mpsc, oneshot};

use super::Connections;
use super::connections::Ask;
use crate::config::{Settings, Statements};
use crate::error;

pub(crate) struct Joined(mpsc::UnboundedSender<Request>);

struct Request {
    sql: String,
    arguments: PgArguments,
    answer: oneshot::Sender<Answer>,
}

type Answer = Result<Vec<PgRow>, sqlx::Error>;

/// A transaction of the caller, whose connection serves the joined calls.
pub(crate) struct OpenTransaction<'t> {
    connection: &'t mut PgConnection,
    requests: mpsc::UnboundedReceiver<Request>,
    /// The qualified name of the function that returns whether its statement runs inside a transaction.
    check: String,
    is_proven: bool,
    is_prepared: bool,
}

/// The statement that writes the setting which `sql/store/is_in_transaction.sql` reads.
const SET: &str = "SELECT pg_catalog.set_config('storagebox.within', $1, true)";

pub(super) fn join<'t>(connection: &'t mut PgConnection, settings: &Settings) -> (Connections, OpenTransaction<'t>) {
    let (to, requests) = mpsc::unbounded_channel();
    let transaction = OpenTransaction {
        connection,
        requests,
        check: format!("{}.is_in_transaction", settings.schema),
        is_proven: false,
        is_prepared: settings.statements == Statements::Prepared,
    };
    (Connections::Joined(Joined(to)), transaction)
}

impl Joined {
    pub(super) async fn rows(&self, ask: Ask<'_>) -> Result<Vec<PgRow>> {
        let Ask::Call(call, settings, _) = ask else { return Err(error::outside()) };
        let prepared = call.joined(&settings.schema).map_err(sqlx::Error::Encode);
        let (sql, arguments) = prepared.map_err(error::within)?;
        let (answer, answered) = oneshot::channel();
        self.0.send(Request { sql, arguments, answer }).map_err(|_| error::over())?;
        answered.await.map_err(|_| error::over())?.map_err(error::within)
    }
}

#[async_trait]
impl Transaction for OpenTransaction<'_> {
    async fn serve(&mut self) -> Infallible {
        while let Some(Request { sql, arguments, answer }) = self.requests.recv().await {
            // A call that was dropped reads no answer.
            let _unread = answer.send(self.answer(sql, arguments).await);
        }
        pending().await
    }
}

impl OpenTransaction<'_> {
    /// Sends a statement. The first statement takes effect only if the server confirms that a transaction is open.
    async fn answer(&mut self, sql: String, arguments: PgArguments) -> Answer {
        if self.is_proven {
            return self.fetch(sql, arguments).await;
        }
        // A transaction that has written has an id, which is proof enough.
        let mut rows = self.checked(&sql, &arguments, None).await?;
        if rows.is_empty() {
            let word = RandomIds.fresh();
            let mut set = PgArguments::default();
            set.add(&word).map_err(sqlx::Error::Encode)?;
            self.fetch(SET.to_owned(), set).await?;
            rows = self.checked(&sql, &arguments, Some(&word)).await?;
        }
        self.is_proven = true;
        Ok(rows)
    }

    /// Sends a statement that returns no row or fails if no transaction is open. `word` is the value of the setting
    /// `storagebox.within`, once the setting is written.
    async fn checked(&mut self, sql: &str, arguments: &PgArguments, word: Option<&str>) -> Answer {
        let mut arguments = arguments.clone();
        arguments.add(word).map_err(sqlx::Error::Encode)?;
        let sql = format!("{sql} AND {}(${})", self.check, arguments.len());
        self.fetch(sql, arguments).await
    }

    async fn fetch(&mut self, sql: String, arguments: PgArguments) -> Answer {
        // Behind a pooler the next transaction has another connection, which does not know a prepared statement.
        let query = query_with(AssertSqlSafe(sql), arguments).persistent(self.is_prepared);
        query.fetch_all(&mut *self.connection).await
    }
}
