#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod combining;
mod config;
mod client;
mod schema;
mod error;
mod item_bank;
mod dedup_repo;
mod lease_repo;
mod token_store;
mod counter;
mod ordered_store;
mod page;
mod store;

pub use config::{PostgresBuilder, Statements};
pub use store::PostgresStore;
