//! Opens a backend by its URL.

use std::path::PathBuf;
use std::sync::Arc;

use storagebox_core::backend::url::plain_url;
use storagebox_core::{Backend, Error, Result};

/// Every URL scheme, with the feature that enables its backend.
const SCHEMES: [(&str, &str); 12] = [
    ("dynamodb", "dynamo"),
    ("dynamodb+articles", "dynamo"),
    ("memory", "memory"),
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("redis", "redis"),
    ("redis+cluster", "redis"),
    ("redis+sentinel", "redis"),
    ("rediss", "redis"),
    ("rediss+cluster", "redis"),
    ("rediss+sentinel", "redis"),
    ("sqlite", "sqlite"),
];

/// Opens a store by URL. The first call connects.
///
/// - `memory:` is a new store inside this process.
/// - `sqlite:path/to/file.db` is a store in a file.
/// - `postgres://user:password@host/database` is a store in a database.
/// - `dynamodb://region/table` is a store in a table.
/// - `redis://user:password@host` is a store on a server, and `rediss://` is the same over TLS. `redis+cluster:`
///   connects to a cluster, and `redis+sentinel:` to the server that sentinels watch.
/// - `dynamodb+articles://region/items/records` is the bank in the two tables of article 1's Python package.
///
/// # Guarantees
///
/// - S-6: an unknown scheme, a disabled feature or an unknown query key returns `Misconfigured` or `Unsupported` before
///   any I/O. The message names the schemes, the feature, or the key and the known keys. It never contains the rest of
///   the URL, which may hold a password.
/// - S-7: a control character or a `#` anywhere, or a blank at an end of the URL or of a part of it, as a file or a
///   variable adds them, returns `Misconfigured`. The message names the character and its place.
///
/// # Cancel safety
///
/// Safe. Open again.
///
/// # Errors
///
/// Returns `Misconfigured` if no backend reads the URL, and `Unsupported` if this build does not have the backend.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// let store = storagebox::parts::open("memory:").await?;
/// assert_eq!(store.backend(), "memory");
/// # Ok(()) }
/// ```
pub async fn open(url: &str) -> Result<Arc<dyn Backend>> {
    plain_url(url)?;
    match scheme(url) {
        #[cfg(feature = "dynamo")]
        "dynamodb" => Ok(Arc::new(storagebox_dynamo::DynamoStore::connect(url)?)),
        #[cfg(feature = "dynamo")]
        "dynamodb+articles" => Ok(Arc::new(storagebox_dynamo::ArticleTables::open(url)?)),
        #[cfg(feature = "memory")]
        "memory" => Ok(Arc::new(storagebox_memory::MemoryStore::connect(url)?)),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Arc::new(storagebox_postgres::PostgresStore::connect(url)?)),
        #[cfg(feature = "redis")]
        "redis" | "redis+cluster" | "redis+sentinel" | "rediss" | "rediss+cluster" | "rediss+sentinel" => {
            Ok(Arc::new(storagebox_redis::RedisStore::connect(url)?))
        }
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Arc::new(storagebox_sqlite::SqliteStore::connect(url)?)),
        scheme => Err(no_such_backend(scheme)),
    }
}

/// Returns the files on this machine that the store at this URL uses, whether or not they exist. Returns none for a
/// store inside the process or on a server. A program whose users choose the output files calls this before it writes.
///
/// # Guarantees
///
/// - S-6 and S-7: as for [`open`]; reads and writes nothing.
///
/// # Errors
///
/// For a URL of files, returns the same errors as [`open`]. For any URL, returns `Misconfigured` if it has a character
/// that S-7 excludes.
///
/// # Example
///
/// ```
/// # fn main() -> storagebox::Result<()> {
/// assert!(storagebox::files("memory:")?.is_empty());
/// # Ok(()) }
/// ```
pub fn files(url: &str) -> Result<Vec<PathBuf>> {
    plain_url(url)?;
    match scheme(url) {
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(storagebox_sqlite::SqliteStore::connect(url)?.files()),
        _ => Ok(vec![]),
    }
}

fn scheme(url: &str) -> &str {
    url.split_once(':').map_or("", |(scheme, _)| scheme)
}

fn no_such_backend(scheme: &str) -> Error {
    match SCHEMES.iter().find(|(known, _)| *known == scheme) {
        Some((_, feature)) => Error::unsupported(
            format_args!("the scheme {scheme} in this build"),
            format_args!("the feature `{feature}` of the crate storagebox"),
        ),
        None => {
            let known: Vec<_> = SCHEMES.iter().map(|(scheme, _)| format!("{scheme}:")).collect();
            Error::misconfigured("url", format_args!("must begin with one of: {}", known.join(", ")))
        }
    }
}
