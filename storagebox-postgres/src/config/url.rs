//! Reads the URL: takes out the library's own keys, and leaves the rest to the driver.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use storagebox_core::Result;
use storagebox_core::backend::url::{decoded, duration, keys, number, one_of, plain_url, retention, switch, unknown};

use super::tls::{self, Said};
use super::{PostgresBuilder, Statements};
use super::{environment, foreign};
use crate::error::bad;

/// The keys that the driver reads. The driver silently ignores all other keys.
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

const OURS: [&str; 7] =
    ["schema", "statements", "combining", "max_connections", "connect_timeout", "call_timeout", "remember"];

const STATEMENTS: [(&str, Statements); 2] = [("prepared", Statements::Prepared), ("simple", Statements::Simple)];

#[derive(Debug)]
pub(crate) struct Url {
    pub(crate) options: PgConnectOptions,
    /// The longest time to connect; `None` for no limit.
    pub(crate) connect_timeout: Option<Duration>,
    /// The files that are read to open a connection, each with the key of the URL that names the file.
    pub(crate) files: Vec<(&'static str, String)>,
}

pub(crate) fn read(mut builder: PostgresBuilder, url: &str) -> Result<(PostgresBuilder, Url)> {
    plain_url(url)?;
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(bad("url", "must begin with postgres:// or postgresql://"));
    }
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    foreign::check_address(address)?;
    let (mut theirs, mut pairs, mut connect_timeout) = (Vec::new(), Vec::new(), None);
    for (key, value) in keys(query) {
        foreign::check(key, value)?;
        check_of_driver(key, value)?;
        match key {
            "connect_timeout" => connect_timeout = foreign::seconds(value)?,
            "pgbouncer" if value == "true" => builder = builder.statements(Statements::Simple),
            // `system` means the authorities that come with the library. The driver uses them if no file is named.
            "sslrootcert" if value == SYSTEM => pairs.push((key, value)),
            _ if DRIVERS.contains(&key) => {
                pairs.push((key, value));
                theirs.push(format!("{key}={value}"));
            }
            _ if foreign::changes_nothing(key) => {}
            _ => builder = set(builder, key, value)?,
        }
    }
    environment::check(address, &pairs)?;
    let rest = format!("{}?{}", with_host(address, &pairs)?, theirs.join("&"));
    let options = without_brackets(parsed(&rest)?, &rest)?;
    let said = Said::by(&pairs, &options)?;
    tls::check_system(&pairs)?;
    let files = files(&pairs)?;
    Ok((builder, Url { options: tls::secured(options, &said), connect_timeout, files }))
}

/// Adds `localhost` to a URL with a login but no host, because the driver would ignore the login. The driver then uses
/// the host that a query key names.
fn with_host(address: &str, pairs: &[(&str, &str)]) -> Result<String> {
    let Some((before, path)) = address.split_once("@/").filter(|(before, _)| before.matches('/').count() == 2) else {
        return Ok(address.to_owned());
    };
    match pairs.iter().any(|(key, _)| ["host", "hostaddr"].contains(key)) {
        true => Ok(format!("{before}@localhost/{path}")),
        false => {
            Err(bad("url", "names no host behind the @; write one, or host=/folder for the socket in that folder"))
        }
    }
}

/// The value of `sslrootcert` that selects the public authorities instead of a file.
pub(super) const SYSTEM: &str = "system";

/// Checks the values of the driver's keys, because the driver's own error would not name the key.
fn check_of_driver(key: &str, value: &str) -> Result<()> {
    let value = decoded(value)?;
    match key {
        "sslmode" if value.parse::<PgSslMode>().is_err() => {
            Err(bad("sslmode", "must be `disable`, `allow`, `prefer`, `require`, `verify-ca` or `verify-full`"))
        }
        "port" if value.parse::<u16>().is_err() => Err(bad("port", "must be a number from 0 to 65535")),
        "hostaddr" if value.parse::<IpAddr>().is_err() => Err(bad("hostaddr", "must be an IP address")),
        _ => Ok(()),
    }
}

fn files(pairs: &[(&str, &str)]) -> Result<Vec<(&'static str, String)>> {
    let named = ["sslrootcert", "sslcert", "sslkey"].into_iter().filter_map(|key| {
        let (_, path) = pairs.iter().rev().find(|pair| pair.0 == key && pair.1 != SYSTEM)?;
        Some(decoded(path).map(|path| (key, path)))
    });
    named.collect()
}

/// Parses the URL. Hides the driver's error, which may repeat a part of the URL.
fn parsed(url: &str) -> Result<PgConnectOptions> {
    PgConnectOptions::from_str(url)
        .map_err(|_| bad("url", "cannot be read; it is postgres://user:password@host:port/database?key=value"))
}

/// Removes the brackets of an IPv6 address, which the driver would keep.
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

    /// Returns the host that the driver looks up for this URL.
    fn host(url: &str) -> String {
        read(PostgresBuilder::default(), url).unwrap().1.options.get_host().to_owned()
    }

    #[test]
    fn ipv6_address_reaches_the_driver_without_brackets() {
        assert_eq!(host("postgres://u:p@[::1]:5432/d?application_name=a&schema=s"), "::1");
        assert_eq!(host("postgres://u:p@[2001:db8::1]/d"), "2001:db8::1");
        assert_eq!(host("postgres://u:p@db/d?host=[::1]"), "::1");
        assert_eq!(host("postgres://u:p@[::1]/d?host=db"), "db");
        assert_eq!(host("postgres://u:p@127.0.0.1/d"), "127.0.0.1");
    }

    /// Cloud SQL's documentation shows such URLs.
    #[test]
    fn url_with_a_login_may_name_its_host_in_a_query_key() {
        let (_, url) = read(PostgresBuilder::default(), "postgres://u:p%40@/d?host=/cloudsql/p:r:i").unwrap();
        let socket = url.options.get_socket().map(|folder| folder.display().to_string());
        assert_eq!(socket.as_deref(), Some("/cloudsql/p:r:i"));
        assert_eq!((url.options.get_username(), url.options.get_database()), ("u", Some("d")));
        assert_eq!(host("postgres://u:p@/d?hostaddr=127.0.0.1"), "127.0.0.1");
        let error = read(PostgresBuilder::default(), "postgres://u:hunter2@/d").unwrap_err();
        assert!(error.message().contains("names no host behind the @"), "{error}");
    }
}
