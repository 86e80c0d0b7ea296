//! The real binary, on real files.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

mod bank;
#[cfg(any(feature = "dynamo", feature = "postgres"))]
mod crowd;
#[cfg(feature = "dynamo")]
mod dynamo;
mod hand_out;
mod help;
#[cfg(feature = "postgres")]
mod postgres;
mod rejects;
mod support;
#[cfg(any(feature = "dynamo", feature = "postgres"))]
mod till;
mod usage;
