//! The address of the server in a URL.

use std::net::SocketAddr;

use storagebox::Error;
use tokio::task::spawn_blocking;
use url::Url;

pub(super) fn scheme(url: &str) -> &str {
    url.split_once(':').map_or("", |(scheme, _)| scheme)
}

/// Returns the URL without these keys of its query, and the removed keys with their values.
pub(super) fn without<'a>(url: &'a str, keys: &[&str]) -> (String, Vec<(&'a str, &'a str)>) {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (taken, left): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| keys.contains(key));
    let left: Vec<_> = left.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    let rest = if left.is_empty() { address.to_owned() } else { format!("{address}?{}", left.join("&")) };
    (rest, taken)
}

/// Returns the address of the server, or `None` if the URL has no host that resolves.
pub(super) async fn of(url: &str, port: u16) -> Option<SocketAddr> {
    let url = Url::parse(url).ok()?;
    let found = spawn_blocking(move || url.socket_addrs(|| Some(port)).ok());
    found.await.ok()??.into_iter().next()
}

/// Returns the URL with the address of the proxy, if there is a proxy.
pub(super) fn through(url: &str, proxy: Option<SocketAddr>) -> Result<String, Error> {
    proxy.map_or_else(|| Ok(url.to_owned()), |proxy| moved(url, proxy))
}

fn moved(url: &str, to: SocketAddr) -> Result<String, Error> {
    let moved = Url::parse(url).ok().and_then(|mut url| {
        url.set_host(Some(&to.ip().to_string())).ok()?;
        url.set_port(Some(to.port())).ok()?;
        Some(url.to_string())
    });
    moved.ok_or_else(|| Error::misconfigured("url", "cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_keys_are_removed_with_their_values() {
        let (rest, taken) = without("redis://u:p@host?prefix=a&wait=1", &["prefix", "call_timeout"]);
        assert_eq!((rest.as_str(), taken), ("redis://u:p@host?wait=1", vec![("prefix", "a")]));
        assert_eq!(without("redis://host?prefix=a", &["prefix"]).0, "redis://host");
    }

    #[tokio::test]
    async fn the_address_of_a_url_is_found_and_replaced() {
        let url = "postgres://u:p%40@127.0.0.1/db?schema=s";
        assert_eq!(of(url, 5432).await, Some(([127, 0, 0, 1], 5432).into()));
        assert_eq!(moved(url, ([127, 0, 0, 2], 99).into()).unwrap(), "postgres://u:p%40@127.0.0.2:99/db?schema=s");
        assert_eq!(of("sqlite:x.db", 1).await, None);
    }
}
