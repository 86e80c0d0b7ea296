//! The URL: our own keys are taken out, the rest is the driver's to read.

use std::time::Duration;

use redis::io::tcp::TcpSettings;
use redis::{ConnectionInfo, IntoConnectionInfo};
use storagebox_core::Result;
use storagebox_core::backend::url::{keys, millis, number, one_of, retention, switch, unknown};

use super::{Eviction, RedisBuilder, Wait, bad};
use crate::client::At;

/// Each scheme as the driver's for one node, and what is there.
const SCHEMES: [(&str, &str, Kind); 6] = [
    ("redis://", "redis://", Kind::Node),
    ("rediss://", "rediss://", Kind::Node),
    ("redis+cluster://", "redis://", Kind::Cluster),
    ("rediss+cluster://", "rediss://", Kind::Cluster),
    ("redis+sentinel://", "redis://", Kind::Sentinels),
    ("rediss+sentinel://", "rediss://", Kind::Sentinels),
];

const KEYS: [&str; 8] =
    ["prefix", "call_timeout", "memory", "wait", "wait_timeout", "require_aof", "eviction", "pool"];

const EVICTION: [(&str, Eviction); 2] = [("refuse", Eviction::Refuse), ("warn", Eviction::Warn)];

#[derive(Clone, Copy)]
enum Kind {
    Node,
    Cluster,
    Sentinels,
}

const BEGINNING: &str =
    "must begin with redis://, redis+cluster:// or redis+sentinel://, or with rediss for TLS";

const FORM: &str =
    "cannot be read; it is redis://user:password@host:port/database?key=value, or rediss:// for TLS";

/// Reads the URL into the builder and the driver's description of the server.
pub(super) fn read(mut builder: RedisBuilder, url: &str) -> Result<(RedisBuilder, At)> {
    let scheme = SCHEMES
        .iter()
        .find_map(|(ours, driver_s, is_cluster)| Some((url.strip_prefix(ours)?, *driver_s, *is_cluster)));
    let (rest, scheme, kind) = scheme.ok_or_else(|| bad("url", BEGINNING))?;
    // The driver takes `#insecure` for leave to check nobody's certificate. Nobody shall have it by a URL.
    if url.contains('#') {
        return Err(bad("url", "must not hold a #; in a password it is %23"));
    }
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    for (key, value) in keys(query) {
        builder = set(builder, key, value)?;
    }
    let at = match kind {
        Kind::Node => At::Node(node(scheme, address)?),
        Kind::Cluster => cluster(&builder, scheme, address)?,
        Kind::Sentinels => sentinels(scheme, address)?,
    };
    Ok((builder, at))
}

/// The driver's message may repeat a part of the URL, so it is not passed on.
fn node(scheme: &str, address: &str) -> Result<ConnectionInfo> {
    let node = format!("{scheme}{address}").into_connection_info().map_err(|_| bad("url", FORM))?;
    Ok(node.set_tcp_settings(TcpSettings::default().set_nodelay(true)))
}

#[allow(dead_code, reason = "one node has one host")]
/// The login, and the hosts, of which there may be many.
fn hosts(address: &str) -> (String, impl Iterator<Item = &str>) {
    let (login, hosts) = address.rsplit_once('@').map_or(("", address), |(login, hosts)| (login, hosts));
    let login = if login.is_empty() { String::new() } else { format!("{login}@") };
    (login, hosts.split(','))
}

/// All nodes have one login.
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

/// The login is the nodes'; the path names what the sentinels watch.
#[cfg(feature = "sentinel")]
fn sentinels(scheme: &str, address: &str) -> Result<At> {
    let (address, watched) = address.split_once('/').unwrap_or((address, ""));
    if watched.is_empty() {
        return Err(bad(
            "url",
            "must name what the sentinels watch, as in redis+sentinel://host:port/mymaster",
        ));
    }
    let (login, hosts) = hosts(address);
    let sentinels = hosts.map(|host| node(scheme, host)).collect::<Result<_>>()?;
    // Any host: the sentinels tell the right one.
    let settings = node(scheme, &format!("{login}localhost"))?;
    Ok(At::Sentinels { sentinels, settings, watched: watched.to_owned() })
}

#[cfg(not(feature = "sentinel"))]
fn sentinels(_: &str, _: &str) -> Result<At> {
    Err(without("Sentinel", "sentinel"))
}

#[allow(dead_code, reason = "in a build with everything nobody is without")]
fn without(what: &str, feature: &str) -> storagebox_core::Error {
    let instead = format!("the feature `{feature}` of the crate storagebox-redis");
    storagebox_core::Error::unsupported(format_args!("{what}: in this build"), instead).on("redis")
}

fn set(mut builder: RedisBuilder, key: &str, value: &str) -> Result<RedisBuilder> {
    Ok(match key {
        "prefix" => builder.prefix(value)?,
        "call_timeout" => builder.call_timeout(millis("call_timeout", value)?),
        "memory" => builder.memory(retention("memory", value)?),
        "wait" => {
            let timeout = builder.settings.wait.map_or(Wait::TIMEOUT, |wait| wait.timeout);
            builder.wait(number("wait", value)?, timeout)
        }
        "wait_timeout" => {
            let wait = builder.settings.wait.as_mut();
            wait.ok_or_else(|| bad("wait_timeout", "must follow `wait`"))?.timeout =
                millis("wait_timeout", value)?;
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
    /// Unless told otherwise.
    const TIMEOUT: Duration = Duration::from_secs(1);
}
