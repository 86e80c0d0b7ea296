//! The databases that tests run in, and how tests wait.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, PgConnection, query_scalar, raw_sql};
use storagebox_core::Result;
use storagebox_postgres::PostgresStore;
pub(crate) use storagebox_testkit::checks::{drop_after, until};
use tokio::runtime::Builder;

use crate::support::{Database, Place, failed};

fn run(test: impl Future<Output = Result<()>>) -> Result<()> {
    Builder::new_current_thread().enable_all().build().map_err(failed)?.block_on(test)
}

/// A timeout that no call reaches, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(3_600);

/// Runs a test in its own database, in the runtime of the caller.
pub(crate) async fn in_database(test: impl AsyncFnOnce(&Arc<Database>) -> Result<()>) -> Result<()> {
    let database = Database::shared().await?;
    let outcome = test(&database).await;
    database.remove().await?;
    outcome
}

/// Runs a test in its own database, in a new runtime.
pub(crate) fn with_database(test: impl AsyncFnOnce(&Arc<Database>) -> Result<()>) -> Result<()> {
    run(in_database(test))
}

/// Runs a test in a new schema and database, in the runtime of the caller.
pub(crate) async fn in_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    in_database(async |database| test(&database.place().await?).await).await
}

/// Runs a test in a new schema and database, in a new runtime.
pub(crate) fn with_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    run(in_place(test))
}

/// Returns a store whose calls do not time out and whose role has the least rights.
pub(crate) fn patient(place: &Place) -> Result<PostgresStore> {
    place.builder()?.call_timeout(LONG).connect(&place.url_at(place.database.server()))
}

/// Returns a URL of the role that owns the schemas. `name` is the name of the sessions.
pub(crate) fn owner_url(database: &Database, name: &str) -> String {
    database.owner_url(name)
}

pub(crate) async fn count(database: &Database, sql: &str) -> Result<i64> {
    query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(database.owner()).await.map_err(failed)
}

/// Opens a session of the owner, begins a transaction, and runs the statements in it.
pub(crate) async fn session(place: &Place, sql: &str) -> Result<PgConnection> {
    let url = owner_url(&place.database, "other");
    let mut session = PgConnection::connect(&url).await.map_err(failed)?;
    tell(&mut session, &format!("SET deadlock_timeout = '100s'; BEGIN; {sql}")).await?;
    Ok(session)
}

pub(crate) async fn tell(session: &mut PgConnection, sql: &str) -> Result<()> {
    raw_sql(AssertSqlSafe(sql.to_owned())).execute(session).await.map(drop).map_err(failed)
}

/// Returns the statement that adds `holds` lapsed holds to the only bank of a schema.
pub(crate) fn lapse(schema: &str, holds: i64) -> String {
    format!(
        "INSERT INTO {schema}.claims (bank, claim, state, h, item, until)
         SELECT b.namespace, 'lapsed-' || n, 'held',
                ('x' || left(encode(sha256(convert_to('item-' || n, 'UTF8')), 'hex'), 16))::bit(64)::bigint,
                'item-' || n, now() - interval '1 day' + n * interval '1 microsecond'
         FROM {schema}.namespaces b, generate_series(1, {holds}) n"
    )
}

/// Returns the number of sessions of this name that wait for a lock.
pub(crate) async fn blocked(database: &Database, name: &str) -> Result<i64> {
    let sql = "SELECT count(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database() AND application_name =";
    count(database, &format!("{sql} '{name}'")).await
}
