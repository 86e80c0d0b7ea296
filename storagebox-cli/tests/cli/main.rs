//! Tests of the binary with real files and servers.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

mod bank;
#[cfg(feature = "conform")]
mod conform;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod crowd;
#[cfg(feature = "sqlite")]
mod default;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
mod doubt;
#[cfg(feature = "dynamo")]
mod dynamo;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "sqlite"))]
mod environment;
mod formats;
mod hand_out;
mod help;
#[cfg(all(unix, feature = "redis"))]
mod interrupted;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod namespaces;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod once;
#[cfg(feature = "sqlite")]
mod outputs;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod quiet;
#[cfg(feature = "sqlite")]
mod readme;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod ready;
#[cfg(feature = "redis")]
mod redis;
mod rejects;
mod shell;
#[cfg(all(feature = "sqlite", target_os = "linux"))]
mod signals;
mod snapshots;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod stores;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod till;
mod usage;
