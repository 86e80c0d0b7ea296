//! Parses the URL: a path and query keys.

use std::path::PathBuf;

use storagebox_core::Result;
use storagebox_core::backend::url::{decoded, duration, keys, number, one_of, plain_url, retention, switch, unknown};

use super::{SqliteBuilder, Synchronous};
use crate::error::bad;

const KEYS: [&str; 5] = ["synchronous", "combining", "call_timeout", "remember", "wal_autocheckpoint"];

const SYNCHRONOUS: [(&str, Synchronous); 3] =
    [("full", Synchronous::Full), ("normal", Synchronous::Normal), ("extra", Synchronous::Extra)];

/// Applies the query keys to the builder. Returns the builder and the path of the file.
pub(crate) fn read(mut builder: SqliteBuilder, url: &str) -> Result<(SqliteBuilder, PathBuf)> {
    plain_url(url)?;
    let rest = url.strip_prefix("sqlite:").ok_or_else(|| bad("url", "must begin with sqlite:"))?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    for (key, value) in keys(query) {
        builder = set(builder, key, value)?;
    }
    // No host follows two slashes: `sqlite://file.db` is the same as `sqlite:file.db`, as in other libraries.
    Ok((builder, PathBuf::from(decoded(path.strip_prefix("//").unwrap_or(path))?)))
}

fn set(builder: SqliteBuilder, key: &str, value: &str) -> Result<SqliteBuilder> {
    Ok(match key {
        "synchronous" => builder.synchronous(one_of("synchronous", value, &SYNCHRONOUS)?),
        "combining" => builder.combining(switch("combining", value)?),
        "call_timeout" => builder.call_timeout(duration("call_timeout", value)?),
        "remember" => builder.remember(retention("remember", value)?),
        "wal_autocheckpoint" => builder.wal_autocheckpoint(number("wal_autocheckpoint", value)?),
        _ => return Err(unknown(key, value, &KEYS)),
    })
}
