//! The URL: `dynamodb://region/table?key=value`.

use std::str::FromStr;
use std::time::Duration;

use storagebox_core::{Result, Retention};

use super::{DynamoBuilder, ReadFirst, bad};
use crate::client::Connection;

/// What the URL is when it is right, for those whose is not.
const FORM: &str = "must be dynamodb://region/table?key=value";

pub(super) fn read(builder: DynamoBuilder, url: &str) -> Result<(DynamoBuilder, Connection)> {
    let rest = url.strip_prefix("dynamodb://").ok_or_else(|| bad("url", FORM))?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (region, table) = place.split_once('/').ok_or_else(|| bad("url", FORM))?;
    if region.is_empty() || region.contains(['@', ':']) {
        return Err(bad("url", "names no region; credentials never stand in it"));
    }
    let mut read = (builder.table(table), None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        read = set(read, key, &decoded(value)?)?;
    }
    let (builder, endpoint) = read;
    Ok((builder, Connection::to(region, endpoint)))
}

type Read = (DynamoBuilder, Option<String>);

fn set((builder, endpoint): Read, key: &str, value: &str) -> Result<Read> {
    let builder = match key {
        "endpoint" => return Ok((builder, Some(checked_endpoint(value)?))),
        "prefix" => builder.prefix(value),
        "memory" => builder.memory(memory(value)?),
        "max_skew" => builder.max_skew(Duration::from_millis(number("max_skew", value)?)),
        "call_timeout" => builder.call_timeout(Duration::from_millis(number("call_timeout", value)?)),
        "shards" => builder.shards(number("shards", value)?),
        "fetch_limit" => builder.fetch_limit(number("fetch_limit", value)?),
        "read_first" => builder.read_first(read_first(value)?),
        "retry_atomic" => builder.retry_atomic(on_or_off(value)?),
        _ => return Err(bad("url", "has a query key that is not known")),
    };
    Ok((builder, endpoint))
}

fn checked_endpoint(value: &str) -> Result<String> {
    let is_http = ["http://", "https://"].iter().any(|scheme| value.starts_with(scheme));
    match is_http && !value.contains('@') {
        true => Ok(value.to_owned()),
        false => Err(bad("endpoint", "must begin with http:// or https:// and hold no credentials")),
    }
}

fn read_first(value: &str) -> Result<ReadFirst> {
    match value {
        "auto" => Ok(ReadFirst::Auto),
        "always" => Ok(ReadFirst::Always),
        "never" => Ok(ReadFirst::Never),
        _ => Err(bad("read_first", "must be `auto`, `always` or `never`")),
    }
}

fn on_or_off(value: &str) -> Result<bool> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(bad("retry_atomic", "must be `on` or `off`")),
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

/// `%2F` as `/`, and so on.
fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next())? * 16 + digit(rest.next())?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| bad("url", "is not UTF-8"))
}

fn digit(byte: Option<u8>) -> Result<u8> {
    let digit =
        byte.and_then(|byte| char::from(byte).to_digit(16)).and_then(|digit| u8::try_from(digit).ok());
    digit.ok_or_else(|| bad("url", "has a % without two hexadecimal digits"))
}
