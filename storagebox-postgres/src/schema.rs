//! Creates, upgrades and checks the schema.

mod functions;
mod probe;

use sqlx::{AssertSqlSafe, PgConnection, Row, raw_sql};
use storagebox_core::backend::micros_of;
use storagebox_core::{Error, ErrorKind, Result, Retention};

pub(crate) use functions::FUNCTIONS;

use crate::client::{Client, FORMAT, Found, SESSION, VERSION, new_epoch, text_of_look, with_tables};
use crate::config::Schema;
use crate::error;

/// The migrations in order. A released migration is never changed.
pub(crate) const MIGRATIONS: [&str; VERSION as usize] = [
    include_str!("../sql/migrations/1.sql"),
    include_str!("../sql/migrations/2.sql"),
    include_str!("../sql/migrations/3.sql"),
];

/// The number of the advisory lock that makes concurrent setups run one after another.
const SETUP_LOCK: i64 = 0x7374_6f72_6562_6f78;

const BEGIN: &str = include_str!("../sql/store/begin.sql");
const HOLDER: &str = include_str!("../sql/store/holder_of_lock.sql");
const SCHEMA: &str = include_str!("../sql/store/schema.sql");
pub(crate) const TABLES: &str =
    concat!(include_str!("../sql/store/versions.sql"), include_str!("../sql/store/store.sql"));
const NAME: &str = include_str!("../sql/store/version.sql");
const END: &str = include_str!("../sql/store/end.sql");

/// Returns the SQL that upgrades a schema of this version: the migrations above it, and all functions.
fn migrations_from(schema: &Schema, version: i32) -> String {
    let missing = (version + 1..).zip(MIGRATIONS.iter().skip(version as usize));
    let migrations: String =
        missing.map(|(number, sql)| format!("{sql}\nINSERT INTO {{schema}}.versions VALUES ({number});\n")).collect();
    let name = NAME.replace("{version}", &VERSION.to_string());
    schema.fill(&format!("{migrations}{}{name}", with_tables(&FUNCTIONS.concat())))
}

/// Returns the statement that writes the epoch and the `remember` setting of a new store.
fn new_store(schema: &Schema, memory: Option<Retention>) -> String {
    let memory = micros_of(memory.unwrap_or(Retention::DEFAULT));
    let memory = memory.map_or("NULL".to_owned(), |micros| micros.to_string());
    schema.fill(&format!("INSERT INTO {{schema}}.store VALUES ({}, {memory});\n", new_epoch()))
}

/// Creates or upgrades the schema in one transaction. A dropped setup changes nothing, and its lock ends with the
/// transaction, also behind a pooler. Setup uses one connection at a time, so that a limit of one connection is enough.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    match client.found().await {
        Ok(found) if found.is_whole() => return check_store(client, &found, "setup"),
        Err(error) if !matches!(error.kind(), ErrorKind::NotSetUp | ErrorKind::Corrupt) => {
            return Err(error.during("setup"));
        }
        _ => {}
    }
    let mut session = client.dedicated().await?;
    make(client, session.connection()?).await.map_err(|error| error.during("setup"))?;
    // The schema is committed, whatever the check finds.
    let found = look(session.connection()?, client.schema(), SESSION).await.map_err(Error::after_unresolved)?;
    session.give_back();
    check_store(client, &found, "setup").map_err(Error::after_unresolved)
}

async fn make(client: &Client, connection: &mut PgConnection) -> Result<()> {
    let schema = client.schema();
    begin(client, connection).await?;
    check_encoding(connection).await?;
    check_owner(connection, schema).await?;
    run(connection, schema.fill(TABLES)).await?;
    let found = look(connection, schema, "").await?;
    let version = found.version;
    FORMAT.refuse_newer(version.into())?;
    found.check_not_emptied()?;
    probe::check(connection, schema).await?;
    run(connection, migrations_from(schema, version)).await?;
    if version == 0 {
        run(connection, new_store(schema, client.settings().options.remember)).await?;
    }
    run(connection, schema.fill(END)).await
}

/// Begins the transaction and takes the setup lock. If the wait times out, the error names the session that holds the
/// lock, because any role that may connect can hold the lock.
async fn begin(client: &Client, connection: &mut PgConnection) -> Result<()> {
    let patience = client.settings().options.call_timeout.as_millis().min(i32::MAX as u128);
    let lock = SETUP_LOCK.to_string();
    let begin = BEGIN.replace("{patience}", &patience.to_string()).replace("{lock}", &lock);
    let begun = raw_sql(AssertSqlSafe(begin)).execute(&mut *connection).await.map_err(probe::refused);
    let Err(error) = begun else { return Ok(()) };
    if error.kind() != ErrorKind::Contention {
        return Err(error);
    }
    let holder = raw_sql(AssertSqlSafe(format!("ROLLBACK; {}", HOLDER.replace("{lock}", &lock))));
    let holder = holder.fetch_one(connection).await.ok().and_then(|row| row.try_get::<String, _>(0).ok());
    let holder = holder.unwrap_or_else(|| "a session that has ended since".to_owned());
    let why = format!("the lock that every setup takes was not released within {patience} ms; its holder is {holder}");
    Err(Error::new(ErrorKind::Contention, why).caused_by(error).on("postgres"))
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<()> {
    raw_sql(AssertSqlSafe(sql)).execute(connection).await.map(drop).map_err(refused)
}

async fn check_encoding(connection: &mut PgConnection) -> Result<()> {
    let row = raw_sql("SELECT pg_catalog.current_setting('server_encoding')").fetch_one(connection).await;
    let encoding: String = row.and_then(|row| row.try_get(0)).map_err(refused)?;
    match encoding.as_str() {
        "UTF8" => Ok(()),
        _ => Err(Error::unsupported(format_args!("a database with the encoding {encoding}"), "a UTF8 database")
            .on("postgres")),
    }
}

/// Checks that this role owns the schema.
async fn check_owner(connection: &mut PgConnection, schema: &Schema) -> Result<()> {
    let row = raw_sql(AssertSqlSafe(schema.fill(SCHEMA))).fetch_one(connection).await.map_err(refused)?;
    // Another owner could attach a trigger to a table, and the functions of this role would run the trigger with the
    // rights of this role.
    if row.try_get("is_ours").map_err(refused)? {
        return Ok(());
    }
    let owner: String = row.try_get("owner").map_err(refused)?;
    let why = format!("the schema belongs to the role {owner}, which alone may set it up");
    Err(Error::new(ErrorKind::Denied, why).on("postgres"))
}

async fn look(connection: &mut PgConnection, schema: &Schema, before: &str) -> Result<Found> {
    let row = raw_sql(AssertSqlSafe(format!("{before}{}", text_of_look(schema))))
        .fetch_one(connection)
        .await
        .map_err(refused)?;
    Found::of_look(&row)
}

fn refused(error: sqlx::Error) -> Error {
    error::of(error, true)
}

/// Checks that the store has this version, is complete and can be used.
fn check_store(client: &Client, found: &Found, operation: &'static str) -> Result<()> {
    let info = found.info().and_then(|info| {
        found.check_parts()?;
        found.check_rights()?;
        found.check_tables()?;
        client.check_store(info)
    });
    info.map_err(|error| error.during(operation))
}

/// Checks that the schema exists, has this library's version and is still the one that was opened.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    check_store(client, &client.found().await?, "ping")
}

/// Returns the epoch of the store. The first call reads the epoch from the database.
pub(crate) async fn epoch(client: &Client) -> Result<i64> {
    match client.epoch() {
        Some(epoch) => Ok(epoch),
        None => {
            let known = client.found().await?.info()?;
            client.check_store(known)?;
            Ok(known.epoch)
        }
    }
}

/// Returns the statement that waits for running setups. After the wait, each of these setups has committed or rolled
/// back.
#[cfg(feature = "test-clock")]
pub fn wait_for_setups() -> String {
    format!("SELECT pg_catalog.pg_advisory_xact_lock({SETUP_LOCK})")
}

#[cfg(feature = "test-clock")]
const MOVED_CLOCK: &str = include_str!("../sql/store/moved_clock.sql");

/// Returns the statements that set the clock of a schema ahead of the server's clock by `by`. The schema's owner runs
/// them. Every session sees the new time at once, also in the middle of a statement.
#[cfg(feature = "test-clock")]
pub fn moved_clock(schema: &str, by: std::time::Duration) -> String {
    MOVED_CLOCK.replace("{schema}", schema).replace("{micros}", &by.as_micros().to_string())
}
