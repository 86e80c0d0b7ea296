//! The real binary, on real files.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

mod bank;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod crowd;
#[cfg(feature = "dynamo")]
mod dynamo;
mod hand_out;
mod help;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
mod rejects;
#[cfg(feature = "sqlite")]
mod sqlite;
mod support;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod till;
mod usage;
