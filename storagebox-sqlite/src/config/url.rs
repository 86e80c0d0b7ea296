//! The URL: a path and our own keys.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use storagebox_core::{Result, Retention};

use super::{SqliteBuilder, Synchronous, bad};

/// Reads the URL into the builder and the path of the file.
pub(super) fn read(mut builder: SqliteBuilder, url: &str) -> Result<(SqliteBuilder, PathBuf)> {
    let rest = url.strip_prefix("sqlite:").ok_or_else(|| bad("url", "must begin with sqlite:"))?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        builder = set(builder, key, value)?;
    }
    // After two slashes there is no host: `sqlite://file.db` is `sqlite:file.db`, as elsewhere.
    Ok((builder, PathBuf::from(decoded(path.strip_prefix("//").unwrap_or(path))?)))
}

fn set(builder: SqliteBuilder, key: &str, value: &str) -> Result<SqliteBuilder> {
    match key {
        "synchronous" => Ok(builder.synchronous(synchronous(value)?)),
        "combining" => Ok(builder.combining(on_or_off(value)?)),
        "call_timeout" => Ok(builder.call_timeout(Duration::from_millis(number("call_timeout", value)?))),
        "memory" => Ok(builder.memory(memory(value)?)),
        "wal_autocheckpoint" => Ok(builder.wal_autocheckpoint(number("wal_autocheckpoint", value)?)),
        _ => Err(bad("url", "has a query key that is not known")),
    }
}

fn synchronous(value: &str) -> Result<Synchronous> {
    match value {
        "normal" => Ok(Synchronous::Normal),
        "full" => Ok(Synchronous::Full),
        "extra" => Ok(Synchronous::Extra),
        _ => Err(bad("synchronous", "must be `full`, `normal` or `extra`")),
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

/// `%20` as a space, and so on.
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
