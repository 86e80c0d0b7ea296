#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod open;
mod timer;

pub use open::{files, open};
pub use storagebox_core::*;
#[cfg(feature = "dynamo")]
pub use storagebox_dynamo::{self as dynamo, DynamoStore};
#[cfg(feature = "memory")]
pub use storagebox_memory::{self as memory, MemoryStore};
#[cfg(feature = "postgres")]
pub use storagebox_postgres::{self as postgres, PostgresStore};
#[cfg(feature = "redis")]
pub use storagebox_redis::{self as redis, RedisStore};
#[cfg(feature = "sqlite")]
pub use storagebox_sqlite::{self as sqlite, SqliteStore};
pub use timer::TokioTimer;
