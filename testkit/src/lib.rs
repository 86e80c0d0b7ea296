//! The servers that the tests of this workspace need.
//!
//! A server for one test, which may kill and restart it:
//!
//! ```no_run
//! use storagebox_testkit::postgres::{Postgres, Settings};
//!
//! let server = Postgres::start(&Settings::durable().with("shared_buffers", "256MB"))?;
//! println!("{}", server.url());
//! server.kill()?;
//! server.start_again()?;
//! # Ok::<(), storagebox_testkit::Failure>(())
//! ```
//!
//! All calls block and none needs a runtime, so a `main`, a test and an async test can all make them. Everything that
//! is started here ends with the returned value, and also when our process is killed.
#![allow(clippy::disallowed_methods, reason = "it waits for servers, on the real clock")]

mod account;
mod address;
#[cfg(feature = "checks")]
pub mod checks;
mod docker;
pub mod dynamodb;
mod failure;
mod folder;
mod memory;
pub mod nats;
mod own_server;
pub mod pgbouncer;
mod polling;
pub mod port;
pub mod postgres;
mod probe;
mod process;
pub mod programs;
pub mod python;
pub mod rabbitmq;
pub mod redis;
mod scratch;
mod server;
pub mod servers;
mod tls;
mod url;
#[cfg(feature = "workload")]
pub mod workload;

pub use failure::{Failure, NoServer, NotReady};
pub use folder::Folder;
pub use own_server::{OwnServer, Paused};
pub use server::{Server, Way};
