//! The schema: its name, its version and how it is made.

mod functions;
mod known;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, raw_sql};
use storagebox_core::backend::micros_of;
use storagebox_core::{Error, ErrorKind, Result, Retention};

use crate::client::{Client, Progress};
use crate::config::bad;
use crate::error;

pub(crate) use known::{Found, Known};

use functions::FUNCTIONS;

/// The migrations, in order; the first brings version 1. A released one is never changed.
const MIGRATIONS: [&str; 1] = [include_str!("../sql/migrations/1.sql")];

/// The version that this library works with.
pub(crate) const VERSION: i32 = MIGRATIONS.len() as i32;

/// Processes that set up at once go one after another. The number is any that nobody else uses.
const SETUP_LOCK: i64 = 0x7374_6f72_6562_6f78;

const LOOK: &str = include_str!("../sql/store/look.sql");
const BEGIN: &str = include_str!("../sql/store/begin.sql");
const HOLDER: &str = include_str!("../sql/store/holder_of_lock.sql");
const SCHEMA: &str = include_str!("../sql/store/schema.sql");
const TABLES: &str =
    concat!(include_str!("../sql/store/versions.sql"), include_str!("../sql/store/store.sql"));
const NAME: &str = include_str!("../sql/store/version.sql");
const END: &str = include_str!("../sql/store/end.sql");

/// The name of a schema that needs no quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schema(String);

impl Default for Schema {
    fn default() -> Self {
        Self("storagebox".to_owned())
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Schema {
    /// Checks the name, so that no statement can be made of it. Postgres would cut a longer one in silence.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        let is_rest = |byte: u8| is_first(byte) || byte.is_ascii_digit();
        let fits = (1..=40).contains(&name.len())
            && name.bytes().take(1).all(is_first)
            && name.bytes().all(is_rest)
            && !name.starts_with("pg_")
            && name != "public";
        if fits {
            return Ok(Self(name.to_owned()));
        }
        Err(bad(
            "schema",
            "must be 1 to 40 of a-z, 0-9 and _, begin with a letter or _, and not with pg_, which is the server's; public is \
             everybody's",
        ))
    }

    fn fill(&self, sql: &str) -> String {
        sql.replace("{schema}", &self.0)
    }

    /// Everything that is missing above this version, as one text.
    fn migrations_from(&self, version: i32) -> String {
        let missing = (version + 1..).zip(MIGRATIONS.iter().skip(version as usize));
        let migrations: String = missing
            .map(|(number, sql)| format!("{sql}\nINSERT INTO {{schema}}.versions VALUES ({number});\n"))
            .collect();
        let name = NAME.replace("{version}", &VERSION.to_string());
        self.fill(&format!("{migrations}{}{name}", FUNCTIONS.concat()))
    }

    /// What a store is from its first setup on.
    fn new_store(&self, memory: Option<Retention>) -> String {
        let memory = micros_of(memory.unwrap_or(Retention::DEFAULT));
        let memory = memory.map_or("NULL".to_owned(), |micros| micros.to_string());
        self.fill(&format!("INSERT INTO {{schema}}.store VALUES ({}, {memory});\n", new_epoch()))
    }
}

/// An epoch that no store and no box had before. It is of the system's randomness: a program may seed its own.
pub(crate) fn new_epoch() -> i64 {
    RandomState::new().hash_one(()).cast_signed()
}

/// Makes the schema or brings it up to date, in one transaction on a connection of its own: a setup that is dropped
/// half-way leaves nothing behind, and the lock goes with its transaction, also behind a pooler.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    match found(client).await {
        Ok(found) if found.version == VERSION => return know(client, found, "setup"),
        Err(error) if error.kind() == ErrorKind::Denied => return Err(error.during("setup")),
        _ => {}
    }
    let mut connection = client.dedicated().await?;
    let made = make(client, &mut connection).await;
    // It is rolled back with its connection, if it is not committed by now.
    drop(connection.close().await);
    made.map_err(|error| error.during("setup"))?;
    // What was made is made, whatever comes of the look.
    let found = found(client).await.map_err(Error::after_unresolved)?;
    know(client, found, "setup").map_err(Error::after_unresolved)
}

async fn make(client: &Client, connection: &mut PgConnection) -> Result<()> {
    let schema = client.schema();
    begin(client, connection).await?;
    check_encoding(connection).await?;
    check_owner(connection, schema).await?;
    run(connection, schema.fill(TABLES)).await?;
    let found = look(connection, schema).await?;
    let version = found.version;
    refuse_newer(version)?;
    found.check_not_emptied()?;
    run(connection, schema.migrations_from(version)).await?;
    if version == 0 {
        run(connection, schema.new_store(client.settings().memory)).await?;
    }
    run(connection, schema.fill(END)).await
}

/// Begins alone. Any role that may connect can hold the lock, so that whoever waited in vain is told for whom.
async fn begin(client: &Client, connection: &mut PgConnection) -> Result<()> {
    let patience = client.settings().call_timeout.as_millis().min(i32::MAX as u128);
    let lock = SETUP_LOCK.to_string();
    let begin = BEGIN.replace("{patience}", &patience.to_string()).replace("{lock}", &lock);
    let Err(error) = run(connection, begin).await else { return Ok(()) };
    if error.kind() != ErrorKind::Contention {
        return Err(error);
    }
    let holder = client.look("setup", &HOLDER.replace("{lock}", &lock)).await.ok();
    let holder = holder.and_then(|row| row.try_get::<String, _>(0).ok());
    let holder = holder.unwrap_or_else(|| "a session that has ended since".to_owned());
    let why =
        format!("another setup did not end in {patience} ms, or the lock of all setups is held by {holder}");
    Err(Error::new(ErrorKind::Contention, why).caused_by(error).on("postgres"))
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<()> {
    raw_sql(AssertSqlSafe(sql)).execute(connection).await.map(drop).map_err(error::of)
}

async fn check_encoding(connection: &mut PgConnection) -> Result<()> {
    let row = raw_sql("SELECT pg_catalog.current_setting('server_encoding')").fetch_one(connection).await;
    let encoding: String = row.and_then(|row| row.try_get(0)).map_err(error::of)?;
    match encoding.as_str() {
        "UTF8" => Ok(()),
        _ => {
            Err(Error::unsupported(format_args!("a database with the encoding {encoding}"), "one with UTF8")
                .on("postgres"))
        }
    }
}

/// A function made in the schema of somebody who is trusted less would run what that role hangs on its tables, with our
/// rights.
async fn check_owner(connection: &mut PgConnection, schema: &Schema) -> Result<()> {
    let row = raw_sql(AssertSqlSafe(schema.fill(SCHEMA))).fetch_one(connection).await.map_err(error::of)?;
    if row.try_get("is_ours").map_err(error::of)? {
        return Ok(());
    }
    let owner: String = row.try_get("owner").map_err(error::of)?;
    let why = format!("the schema belongs to the role {owner}, which alone may set it up");
    Err(Error::new(ErrorKind::Denied, why).on("postgres"))
}

async fn look(connection: &mut PgConnection, schema: &Schema) -> Result<Found> {
    let row = raw_sql(AssertSqlSafe(schema.fill(LOOK))).fetch_one(connection).await.map_err(error::of)?;
    Found::of(THE_LOOK, &row)
}

const THE_LOOK: &str = "a look at the schema";

/// What is there, without any right to change it, and without running what another role made.
async fn found(client: &Client) -> Result<Found> {
    let row = client.look("ping", &client.schema().fill(LOOK)).await?;
    let found = Found::of(THE_LOOK, &row)?;
    refuse_newer(found.version)?;
    Ok(found)
}

fn know(client: &Client, found: Found, operation: &'static str) -> Result<()> {
    found.known().and_then(|known| client.know(known)).map_err(|error| error.during(operation))
}

/// Whether the schema is there, of this library's version, and still the one that was opened.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    know(client, found(client).await?, "ping")
}

/// The epoch of the store. The first call looks for it, which is one round trip more.
pub(crate) async fn epoch(client: &Client) -> Result<i64> {
    match client.epoch() {
        Some(epoch) => Ok(epoch),
        None => {
            let known = found(client).await?.known()?;
            client.know(known)?;
            Ok(known.epoch)
        }
    }
}

/// A function that is not there may have been there before: the schema is of another version by now.
pub(crate) async fn explained(client: &Client, error: Error) -> Error {
    let look = client.schema().fill(LOOK);
    // What the call itself did is not what the look does.
    let found = Progress::default().scope(client.look("look", &look)).await;
    match found.and_then(|row| Found::of(THE_LOOK, &row)).map(|found| check(found.version)) {
        Ok(Err(of_version)) => of_version.caused_by(error),
        _ => error,
    }
}

/// Judges the version that a box was opened with.
fn check(version: i32) -> Result<()> {
    refuse_newer(version)?;
    if version == VERSION {
        return Ok(());
    }
    let why = format!("the schema is of version {version}, and this library needs {VERSION}");
    Err(Error::new(ErrorKind::NotSetUp, why).on("postgres"))
}

fn refuse_newer(version: i32) -> Result<()> {
    if version <= VERSION {
        return Ok(());
    }
    let what = format!("the schema's version {version}: this library knows up to {VERSION}, and it");
    Err(Error::unsupported(what, "a newer storagebox").on("postgres"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program may seed them for results that can be repeated.
    #[test]
    fn an_epoch_is_not_of_the_programs_random_numbers() {
        let epoch = || {
            fastrand::seed(42);
            new_epoch()
        };
        assert_ne!(epoch(), epoch());
    }
}
