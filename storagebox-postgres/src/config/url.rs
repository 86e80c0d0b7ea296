//! The URL: our own keys are taken out, the rest is the driver's to read.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use storagebox_core::{Result, Retention};

use super::{PostgresBuilder, Statements, bad};

/// The driver's keys; it would pass over others in silence.
const DRIVERS: [&str; 12] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// Reads the URL into the builder and the driver's options.
pub(super) fn read(mut builder: PostgresBuilder, url: &str) -> Result<(PostgresBuilder, PgConnectOptions)> {
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(bad("url", "must begin with postgres:// or postgresql://"));
    }
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let mut theirs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match DRIVERS.contains(&key) {
            true => theirs.push(pair),
            false => builder = set(builder, key, value)?,
        }
    }
    let rest = format!("{address}?{}", theirs.join("&"));
    // The driver's message may repeat a part of the URL, so it is not passed on.
    let options = PgConnectOptions::from_str(&rest).map_err(|_| {
        bad("url", "cannot be read; it is postgres://user:password@host:port/database?key=value")
    })?;
    Ok((builder, options))
}

fn set(builder: PostgresBuilder, key: &str, value: &str) -> Result<PostgresBuilder> {
    match key {
        "schema" => builder.schema(value),
        "statements" => Ok(builder.statements(statements(value)?)),
        "combining" => Ok(builder.combining(on_or_off(value)?)),
        "max_connections" => Ok(builder.max_connections(number("max_connections", value)?)),
        "call_timeout" => Ok(builder.call_timeout(Duration::from_millis(number("call_timeout", value)?))),
        "memory" => Ok(builder.memory(memory(value)?)),
        _ => Err(bad("url", "has a query key that is not known")),
    }
}

fn statements(value: &str) -> Result<Statements> {
    match value {
        "prepared" => Ok(Statements::Prepared),
        "simple" => Ok(Statements::Simple),
        _ => Err(bad("statements", "must be `prepared` or `simple`")),
    }
}

fn on_or_off(value: &str) -> Result<bool> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(bad("combining", "must be `on` or `off`")),
    }
}

fn memory(value: &str) -> Result<Retention> {
    match value {
        "forever" => Ok(Retention::Forever),
        _ => Ok(Retention::For(Duration::from_secs(number("memory", value)?))),
    }
}

fn number<T: FromStr>(setting: &'static str, value: &str) -> Result<T> {
    value.parse().map_err(|_| bad(setting, "must be a whole number"))
}
