//! Reads the URL: this library reads its own query keys, the driver reads the rest.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{ConnectionInfo, IntoConnectionInfo};
use storagebox_core::Result;
use storagebox_core::backend::url::{decoded, duration, keys, number, one_of, plain_url, retention, switch, unknown};

use super::{At, Eviction, RedisBuilder, Wait};
use crate::error::bad;

/// The schemes of the URL, each with the scheme that the driver uses for one node, and the kind of the server.
const SCHEMES: [(&str, &str, Kind); 6] = [
    ("redis://", "redis://", Kind::Node),
    ("rediss://", "rediss://", Kind::Node),
    ("redis+cluster://", "redis://", Kind::Cluster),
    ("rediss+cluster://", "rediss://", Kind::Cluster),
    ("redis+sentinel://", "redis://", Kind::Sentinels),
    ("rediss+sentinel://", "rediss://", Kind::Sentinels),
];

const KEYS: [&str; 13] = [
    "prefix",
    "call_timeout",
    "remember",
    "wait",
    "wait_timeout",
    "require_aof",
    "eviction",
    "pool",
    "sentinel_user",
    "sentinel_password",
    "tls_ca_cert_file",
    "tls_cert_file",
    "tls_key_file",
];

const ACCESS: &[&str] = &["sentinel_user", "sentinel_password", "tls_ca_cert_file", "tls_cert_file", "tls_key_file"];

const EVICTION: [(&str, Eviction); 2] = [("refuse", Eviction::Refuse), ("warn", Eviction::Warn)];

#[derive(Clone, Copy)]
enum Kind {
    Node,
    Cluster,
    Sentinels,
}

const BEGINNING: &str = "must begin with redis://, redis+cluster:// or redis+sentinel://, or with rediss for TLS";

const FORM: &str = "cannot be read; it is redis://user:password@host:port/database?key=value, or rediss:// for TLS";

pub(crate) fn read(mut builder: RedisBuilder, url: &str) -> Result<(RedisBuilder, At)> {
    plain_url(url)?;
    let scheme =
        SCHEMES.iter().find_map(|(ours, driver_s, is_cluster)| Some((url.strip_prefix(ours)?, *driver_s, *is_cluster)));
    let (rest, scheme, kind) = scheme.ok_or_else(|| bad("url", BEGINNING))?;
    // With `#insecure` the driver would not check certificates. The URL of a store cannot turn off that check.
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut access = BTreeMap::new();
    for (key, value) in keys(query) {
        match ACCESS.contains(&key) {
            true => drop(access.insert(key, decoded(value)?)),
            false => builder = set(builder, key, value)?,
        }
    }
    let builder = sentinel_login(certificates(builder, scheme, &access)?, kind, &access)?;
    let at = match kind {
        Kind::Node => At::Node(node(scheme, address)?),
        Kind::Cluster => cluster(&builder, scheme, address)?,
        Kind::Sentinels => sentinels(scheme, address)?,
    };
    Ok((builder, at))
}

/// Reads the certificate files at once, so that an unreadable file is an error of `connect`.
fn certificates(mut builder: RedisBuilder, scheme: &str, access: &BTreeMap<&str, String>) -> Result<RedisBuilder> {
    let named = |key| access.get(key).map(|path| pem(key, path)).transpose();
    let (authority, own, key) = (named("tls_ca_cert_file")?, named("tls_cert_file")?, named("tls_key_file")?);
    if scheme != "rediss://" && (authority.is_some() || own.is_some() || key.is_some()) {
        return Err(bad("url", "names certificates, but only a rediss:// URL can use them"));
    }
    if let Some(authority) = authority {
        builder = builder.authority(&authority)?;
    }
    match (own, key) {
        (Some(own), Some(key)) => builder.client_certificate(&own, &key),
        (None, None) => Ok(builder),
        _ => Err(bad("url", "must name both `tls_cert_file` and `tls_key_file`, or neither")),
    }
}

fn pem(key: &'static str, path: &str) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| bad(key, format_args!("cannot be read: {}", error.kind())))
}

#[cfg(feature = "sentinel")]
fn sentinel_login(builder: RedisBuilder, kind: Kind, access: &BTreeMap<&str, String>) -> Result<RedisBuilder> {
    use super::Login;
    let (user, password) = (access.get("sentinel_user"), access.get("sentinel_password"));
    match (user, password, kind) {
        (None, None, _) => Ok(builder),
        (_, _, Kind::Node | Kind::Cluster) => Err(bad("url", "has a login for sentinels, but is not a sentinel URL")),
        (_, None, _) => Err(bad("url", "must have a `sentinel_password` with its `sentinel_user`")),
        (None, Some(password), _) => Ok(builder.sentinel_login(Login::with_password(password))),
        (Some(user), Some(password), _) => Ok(builder.sentinel_login(Login::new(user, password))),
    }
}

#[cfg(not(feature = "sentinel"))]
fn sentinel_login(builder: RedisBuilder, _: Kind, access: &BTreeMap<&str, String>) -> Result<RedisBuilder> {
    match access.keys().any(|key| key.starts_with("sentinel")) {
        true => Err(without("Sentinel", "sentinel")),
        false => Ok(builder),
    }
}

/// Reads the address of one node.
fn node(scheme: &str, address: &str) -> Result<ConnectionInfo> {
    // The driver's message may repeat a part of the URL.
    let node = format!("{scheme}{address}").into_connection_info().map_err(|_| bad("url", FORM))?;
    Ok(node.set_tcp_settings(TcpSettings::default().set_nodelay(true)))
}

#[allow(dead_code, reason = "one node has one host")]
/// Splits an address into its login (`user:password@`, or empty) and its hosts.
fn hosts(address: &str) -> (String, impl Iterator<Item = &str>) {
    let (login, hosts) = address.rsplit_once('@').map_or(("", address), |(login, hosts)| (login, hosts));
    let login = if login.is_empty() { String::new() } else { format!("{login}@") };
    (login, hosts.split(','))
}

/// Reads the address of a cluster, with one login for all nodes.
#[cfg(feature = "cluster")]
fn cluster(builder: &RedisBuilder, scheme: &str, address: &str) -> Result<At> {
    let (login, hosts) = hosts(address.trim_end_matches('/'));
    let nodes = hosts.map(|host| node(scheme, &format!("{login}{host}")));
    Ok(At::Cluster { nodes: nodes.collect::<Result<_>>()?, reached: builder.reached.clone() })
}

#[cfg(not(feature = "cluster"))]
fn cluster(_: &RedisBuilder, _: &str, _: &str) -> Result<At> {
    Err(without("a cluster", "cluster"))
}

/// Reads the address of sentinels, with the login and the name (path) of the master.
#[cfg(feature = "sentinel")]
fn sentinels(scheme: &str, address: &str) -> Result<At> {
    let (address, watched) = address.split_once('/').unwrap_or((address, ""));
    if watched.is_empty() {
        return Err(bad("url", "must name the sentinels' master, as in redis+sentinel://host:port/mymaster"));
    }
    let (login, hosts) = hosts(address);
    let sentinels = hosts.map(|host| node(scheme, host)).collect::<Result<_>>()?;
    // The host is a placeholder: the sentinels name the right one.
    let settings = node(scheme, &format!("{login}localhost"))?;
    Ok(At::Sentinels { sentinels, settings, watched: watched.to_owned() })
}

#[cfg(not(feature = "sentinel"))]
fn sentinels(_: &str, _: &str) -> Result<At> {
    Err(without("Sentinel", "sentinel"))
}

#[allow(dead_code, reason = "unused in a build with all features")]
fn without(what: &str, feature: &str) -> storagebox_core::Error {
    let instead = format!("the feature `{feature}` of the crate storagebox-redis");
    storagebox_core::Error::unsupported(format_args!("{what} in this build"), instead).on("redis")
}

fn set(mut builder: RedisBuilder, key: &str, value: &str) -> Result<RedisBuilder> {
    Ok(match key {
        "prefix" => builder.prefix(value)?,
        "call_timeout" => builder.call_timeout(duration("call_timeout", value)?),
        "remember" => builder.remember(retention("remember", value)?),
        "wait" => {
            let timeout = builder.settings.wait.map_or(Wait::TIMEOUT, |wait| wait.timeout);
            builder.wait(number("wait", value)?, timeout)
        }
        "wait_timeout" => {
            let wait = builder.settings.wait.as_mut();
            wait.ok_or_else(|| bad("wait_timeout", "must follow `wait`"))?.timeout = duration("wait_timeout", value)?;
            builder
        }
        "require_aof" => builder.require_aof(switch("require_aof", value)?),
        "eviction" => builder.eviction(one_of("eviction", value, &EVICTION)?),
        #[cfg(feature = "pool")]
        "pool" => builder.pool(number("pool", value)?),
        #[cfg(not(feature = "pool"))]
        "pool" => return Err(without("a pool", "pool")),
        _ => return Err(unknown(key, value, &KEYS)),
    })
}

impl Wait {
    /// The default of `wait_timeout`.
    const TIMEOUT: Duration = Duration::from_secs(1);
}
