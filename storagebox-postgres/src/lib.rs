#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod client;
mod combining;
mod config;
mod counter;
mod dedup_repo;
mod entity_ledger;
mod error;
mod item_bank;
mod lease_repo;
mod ordered_store;
mod schema;
mod server;
pub mod sql;
mod store;
mod token_store;

pub use config::{PostgresBuilder, Statements};
#[cfg(feature = "test-clock")]
pub use schema::{moved_clock, wait_for_setups};
pub use server::PostgresServer;
pub use store::PostgresStore;
