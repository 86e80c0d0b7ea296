//! The URL: our own keys are taken out, the rest is the driver's to read.

use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use storagebox_core::Result;
use storagebox_core::backend::url::{duration, keys, number, one_of, retention, switch, unknown};

use super::tls::{self, Said};
use super::{PostgresBuilder, Statements};
use crate::error::bad;

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

const OURS: [&str; 6] = ["schema", "statements", "combining", "max_connections", "call_timeout", "remember"];

const STATEMENTS: [(&str, Statements); 2] = [("prepared", Statements::Prepared), ("simple", Statements::Simple)];

/// Reads the URL into the builder and the driver's options.
pub(crate) fn read(mut builder: PostgresBuilder, url: &str) -> Result<(PostgresBuilder, PgConnectOptions)> {
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(bad("url", "must begin with postgres:// or postgresql://"));
    }
    // The driver takes what is behind it for a fragment and reads none of it.
    if url.contains('#') {
        return Err(bad("url", "has a `#`; write it as %23"));
    }
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut theirs, mut pairs) = (Vec::new(), Vec::new());
    for (key, value) in keys(query) {
        match DRIVERS.contains(&key) {
            true => {
                pairs.push((key, value));
                theirs.push(format!("{key}={value}"));
            }
            false => builder = set(builder, key, value)?,
        }
    }
    let rest = format!("{address}?{}", theirs.join("&"));
    let options = without_brackets(parsed(&rest)?, &rest)?;
    let said = Said::by(&pairs, &options)?;
    Ok((builder, tls::secured(options, &said)))
}

/// The driver's message may repeat a part of the URL, so it is not passed on.
fn parsed(url: &str) -> Result<PgConnectOptions> {
    PgConnectOptions::from_str(url)
        .map_err(|_| bad("url", "cannot be read; it is postgres://user:password@host:port/database?key=value"))
}

/// The driver looks an address of IPv6 up with the brackets that it has in a URL. It reads the URL again with the bare
/// one, by which the password file knows it.
fn without_brackets(options: PgConnectOptions, url: &str) -> Result<PgConnectOptions> {
    let address = options.get_host().strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match address {
        Some(address) => parsed(&format!("{url}&hostaddr={address}")),
        None => Ok(options),
    }
}

fn set(builder: PostgresBuilder, key: &str, value: &str) -> Result<PostgresBuilder> {
    Ok(match key {
        "schema" => builder.schema(value)?,
        "statements" => builder.statements(one_of("statements", value, &STATEMENTS)?),
        "combining" => builder.combining(switch("combining", value)?),
        "max_connections" => builder.max_connections(number("max_connections", value)?),
        "call_timeout" => builder.call_timeout(duration("call_timeout", value)?),
        "remember" => builder.remember(retention("remember", value)?),
        _ => return Err(unknown(key, value, &[&OURS[..], &DRIVERS].concat())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host that the driver looks up.
    fn host(url: &str) -> String {
        read(PostgresBuilder::default(), url).unwrap().1.get_host().to_owned()
    }

    #[test]
    fn an_address_of_ipv6_has_no_brackets_for_the_driver() {
        assert_eq!(host("postgres://u:p@[::1]:5432/d?application_name=a&schema=s"), "::1");
        assert_eq!(host("postgres://u:p@[2001:db8::1]/d"), "2001:db8::1");
        assert_eq!(host("postgres://u:p@db/d?host=[::1]"), "::1");
        assert_eq!(host("postgres://u:p@[::1]/d?host=db"), "db");
        assert_eq!(host("postgres://u:p@127.0.0.1/d"), "127.0.0.1");
    }
}
