//! Keys of other clients, as the dashboards of providers print them. A key is accepted if the store does what the key
//! asks for anyway. Any other key is refused, with advice on what to write instead. No error shows a value.

use std::time::Duration;

use storagebox_core::Result;
use storagebox_core::backend::url::number;

use crate::error::bad;

/// The URL keys of other PostgreSQL clients, each with the values that change nothing and the error for any other
/// value.
const KEYS: &[(&str, &[&str], &str)] = &[
    (
        "target_session_attrs",
        &["any", "read-write", "primary"],
        "must be `any`, `read-write` or `primary`: the store writes, and refuses a read-only server",
    ),
    (
        "channel_binding",
        &["prefer", "disable"],
        "cannot be required, because the driver does not bind channels; leave it out, and write sslmode=verify-full to be sure \
         of the server",
    ),
    ("gssencmode", &["prefer", "disable"], "cannot be required, because the driver has no GSSAPI; leave it out"),
    ("sslnegotiation", &["postgres"], "must be `postgres`: the driver negotiates in no other way; leave it out"),
    ("sslcompression", &["0"], "must be `0`: the driver does not compress; leave it out"),
    ("sslsni", &["1"], "must be `1`: the driver always sends the name of the host; leave it out"),
    ("client_encoding", &["UTF8", "utf8", "UTF-8", "utf-8"], "must be `UTF8`; leave it out"),
    ("load_balance_hosts", &["disable"], "has no meaning here: the URL names one host; leave it out"),
    ("pgbouncer", &["true", "false"], "must be `true`, which means statements=simple, or `false`"),
    ("connection_limit", &[], "is not known here; write max_connections"),
    ("pool_timeout", &[], "is not known here; write call_timeout, with its unit"),
    ("ssl", &[], "is not known here; write sslmode"),
    ("sslpassword", &[], "is not supported: the driver cannot read a key with a password"),
    ("sslcrl", &[], "is not supported: the driver cannot read a list of revoked certificates"),
    ("require_auth", &[], "is not supported by the driver; leave it out, and write sslmode=verify-full"),
    ("passfile", &[], "is not supported in the URL; set PGPASSFILE"),
    ("service", &[], "is not supported; write the settings of the service into the URL"),
    ("fallback_application_name", &[], "is not known here; write application_name"),
];

fn known(key: &str) -> Option<&'static (&'static str, &'static [&'static str], &'static str)> {
    KEYS.iter().find(|(known, ..)| *known == key)
}

/// Refuses a key whose value asks for a feature that the store does not have.
pub(super) fn check(key: &str, value: &str) -> Result<()> {
    match known(key) {
        Some((key, taken, why)) if !taken.contains(&value) => Err(bad(key, why)),
        _ if value.contains(',') && matches!(key, "host" | "hostaddr" | "port") => Err(several("host")),
        _ => Ok(()),
    }
}

/// Whether `check` knows the key.
pub(super) fn changes_nothing(key: &str) -> bool {
    known(key).is_some()
}

/// Refuses a URL with several hosts.
pub(super) fn check_address(address: &str) -> Result<()> {
    let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    // A comma before the `@` may be part of a password.
    let host = after_scheme.rsplit_once('@').map_or(after_scheme, |(_, host)| host);
    let host = host.split('/').next().unwrap_or_default();
    if host.contains(',') { Err(several("url")) } else { Ok(()) }
}

fn several(key: &'static str) -> storagebox_core::Error {
    bad(key, "names several hosts, but the driver connects to one; name one host that leads to the primary")
}

/// Reads the longest time to connect, in seconds; 0 is no limit.
pub(super) fn seconds(value: &str) -> Result<Option<Duration>> {
    let seconds = number("connect_timeout", value)?;
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}
